package remote

import (
	"bytes"
	"slices"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// fields are the fields of a protobuf message that stay, by their numbers.
type fields struct {
	// whole has a bit for each field that stays as it is.
	whole uint64
	// parts are messages of which some fields stay.
	parts map[protowire.Number]fields
}

// podFields has what trimPod keeps of a Job's pod. Decoding the rest would be most of what a pod costs this process.
var podFields = fields{parts: map[protowire.Number]fields{
	1: {whole: ^numbers(17)}, // metadata without managedFields
	2: {whole: numbers(3, 10, 16), parts: map[protowire.Number]fields{ // spec: restartPolicy, nodeName, hostname
		2: containerFields, 20: containerFields}}, // containers, initContainers
	3: {whole: numbers(1, 2, 3, 4, 7), parts: map[protowire.Number]fields{ // status: phase, conditions, message, reason, startTime
		8: statusFields, 10: statusFields}}, // containerStatuses, initContainerStatuses
}}

var (
	// containerFields are name and restartPolicy.
	containerFields = fields{whole: numbers(1, 24)}
	// statusFields are name, state, lastState, ready, restartCount and started.
	statusFields = fields{whole: numbers(1, 2, 3, 4, 5, 9)}
)

func numbers(all ...int) (bits uint64) {
	for _, n := range all {
		bits |= 1 << n
	}
	return bits
}

// appendKept appends the fields of message that stay to out.
func (f fields) appendKept(out, message []byte) ([]byte, error) {
	for len(message) > 0 {
		number, kind, tag := protowire.ConsumeTag(message)
		if tag < 0 {
			return nil, protowire.ParseError(tag)
		}
		value := protowire.ConsumeFieldValue(number, kind, message[tag:])
		if value < 0 {
			return nil, protowire.ParseError(value)
		}
		field := message[:tag+value]
		message = message[tag+value:]
		if f.whole>>number&1 != 0 {
			out = append(out, field...)
		} else if part, ok := f.parts[number]; ok {
			body, _ := protowire.ConsumeBytes(field[tag:])
			out = append(out, field[:tag]...)
			at := len(out)
			var err error
			if out, err = part.appendKept(out, body); err != nil {
				return nil, err
			}
			out = slices.Insert(out, at, protowire.AppendVarint(nil, uint64(len(out)-at))...)
		}
	}
	return out, nil
}

// podSerializer decodes only podFields of pods in protobuf.
type podSerializer struct{ runtime.NegotiatedSerializer }

func (s podSerializer) DecoderToVersion(d runtime.Decoder, version runtime.GroupVersioner) runtime.Decoder {
	return podDecoder{s.NegotiatedSerializer.DecoderToVersion(d, version)}
}

// podDecoder leaves everything but pods in protobuf to another decoder.
type podDecoder struct{ runtime.Decoder }

var (
	podKind = corev1.SchemeGroupVersion.WithKind("Pod")
	// protobufPrefix begins every object in protobuf.
	protobufPrefix = []byte("k8s\x00")
	buffers        = sync.Pool{New: func() any { return new([]byte) }}
)

func (d podDecoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	message, ok := podMessage(data)
	pod, isPod := into.(*corev1.Pod)
	if !ok || !isPod && into != nil {
		return d.Decoder.Decode(data, defaults, into)
	}
	if pod == nil {
		pod = &corev1.Pod{}
	}
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	kept, err := podFields.appendKept((*buffer)[:0], message)
	if err != nil {
		return nil, &podKind, err
	}
	*buffer = kept
	return pod, &podKind, pod.Unmarshal(kept)
}

// podMessage returns the pod in the envelope that the API server sends (runtime.Unknown), if it is a pod.
func podMessage(data []byte) (message []byte, isPod bool) {
	envelope, isProtobuf := bytes.CutPrefix(data, protobufPrefix)
	for isProtobuf && len(envelope) > 0 {
		number, kind, tag := protowire.ConsumeTag(envelope)
		if tag < 0 || kind != protowire.BytesType {
			return nil, false
		}
		value, n := protowire.ConsumeBytes(envelope[tag:])
		if n < 0 {
			return nil, false
		}
		envelope = envelope[tag+n:]
		switch number {
		case 1:
			t := runtime.TypeMeta{}
			if t.Unmarshal(value) != nil || t.APIVersion != "v1" || t.Kind != "Pod" {
				return nil, false
			}
			isPod = true
		case 2:
			message = value
		}
	}
	return message, isPod
}
