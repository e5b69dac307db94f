// Package service describes the kinds by which pods find each other: Services, and the EndpointSlices that list what is
// behind them.
package service
