package manifest

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// checker compares a JSON tree with a Go type and records every difference with its path.
type checker struct {
	at       Place
	problems Problems
}

func checkFields(at Place, body map[string]any, t reflect.Type) Problems {
	c := &checker{at: at}
	c.object("", body, t)
	slices.SortStableFunc(c.problems, func(a, b Problem) int { return cmp.Compare(a.Field, b.Field) })
	return c.problems
}

func (c *checker) wrong(path, what, remedy string) {
	c.problems = append(c.problems, Problem{Place: c.at, Field: path, Message: what, Remedy: remedy})
}

var decodesItself = reflect.TypeFor[json.Unmarshaler]()

// value checks v against t. A null means the same as a missing field.
func (c *checker) value(path string, v any, t reflect.Type) {
	if v == nil {
		return
	}
	if t.Kind() == reflect.Pointer {
		c.value(path, v, t.Elem())
		return
	}
	if reflect.PointerTo(t).Implements(decodesItself) {
		c.special(path, v, t)
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		c.structure(path, v, t)
	case reflect.Map:
		c.mapping(path, v, t.Elem())
	case reflect.Slice:
		c.list(path, v, t.Elem())
	default:
		c.scalar(path, v, t)
	}
}

func (c *checker) structure(path string, v any, t reflect.Type) {
	body, ok := v.(map[string]any)
	if !ok {
		c.wrong(path, "is "+describe(v)+", not an object", "write its fields below it, indented")
		return
	}
	c.object(path, body, t)
}

func (c *checker) object(path string, body map[string]any, t reflect.Type) {
	known := fieldsOf(t)
	for name, v := range body {
		field, ok := known[name]
		if !ok {
			c.unknown(join(path, name), name, known)
			continue
		}
		c.value(join(path, name), v, field)
	}
}

func (c *checker) unknown(path, name string, known map[string]reflect.Type) {
	names := make([]string, 0, len(known))
	for n := range known {
		names = append(names, n)
	}
	slices.Sort(names)
	remedy := "remove it"
	if near := Closest(name, names); near != "" {
		remedy = "did you mean " + near + "?"
	} else if len(names) <= 8 {
		remedy = "there is " + strings.Join(names, ", ")
	}
	c.wrong(path, "unknown field", remedy)
}

func (c *checker) mapping(path string, v any, elem reflect.Type) {
	body, ok := v.(map[string]any)
	if !ok {
		c.wrong(path, "is "+describe(v)+", not a map", "write NAME: VALUE lines below it, indented")
		return
	}
	for name, item := range body {
		c.value(join(path, "["+name+"]"), item, elem)
	}
}

func (c *checker) list(path string, v any, elem reflect.Type) {
	if elem.Kind() == reflect.Uint8 {
		c.bytes(path, v)
		return
	}
	items, ok := v.([]any)
	if !ok {
		c.wrong(path, "is "+describe(v)+", not a list", "begin each entry with a dash")
		return
	}
	for i, item := range items {
		c.value(join(path, fmt.Sprintf("[%d]", i)), item, elem)
	}
}

func (c *checker) bytes(path string, v any) {
	encoded, ok := v.(string)
	if !ok {
		c.wrong(path, "is "+describe(v)+", not text in base64", "encode it, or use stringData")
		return
	}
	if _, err := base64.StdEncoding.DecodeString(encoded); err != nil {
		c.wrong(path, "is not valid base64", "encode it, or use stringData")
	}
}

func (c *checker) scalar(path string, v any, t reflect.Type) {
	switch t.Kind() {
	case reflect.String:
		if _, ok := v.(string); !ok {
			c.wrong(path, "is "+describe(v)+", not text", quoteRemedy(v))
		}
	case reflect.Bool:
		if _, ok := v.(bool); !ok {
			c.wrong(path, "is "+describe(v)+", not true or false", "write true or false, without quotes")
		}
	case reflect.Interface:
	default:
		c.number(path, v, t)
	}
}

func (c *checker) number(path string, v any, t reflect.Type) {
	n, ok := v.(json.Number)
	if !ok {
		c.wrong(path, "is "+describe(v)+", not a number", "write a number, without quotes")
		return
	}
	if err := json.Unmarshal([]byte(n.String()), reflect.New(t).Interface()); err != nil {
		c.wrong(path, fmt.Sprintf("%s is not a whole number of %d bits", n, t.Bits()), "write a smaller whole number")
	}
}

// special checks values that decode themselves: quantities, times, IntOrString.
func (c *checker) special(path string, v any, t reflect.Type) {
	encoded, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(encoded, reflect.New(t).Interface())
	}
	if err == nil {
		return
	}
	switch t {
	case reflect.TypeFor[resource.Quantity]():
		c.wrong(path, "is "+describe(v)+", not a quantity", `write a quantity such as 500m, 2 or 1Gi`)
	case reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime]():
		c.wrong(path, "is "+describe(v)+", not a time", `write a time such as "2006-01-02T15:04:05Z"`)
	case reflect.TypeFor[intstr.IntOrString]():
		c.wrong(path, "is "+describe(v)+", not a number or text", "write a number or text")
	default:
		c.wrong(path, err.Error(), "")
	}
}

// fieldsOf returns the JSON names of a struct's fields and their types, embedded structs included.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
		case name == "" && f.Anonymous:
			for n, inner := range fieldsOf(f.Type) {
				fields[n] = inner
			}
		case name != "":
			fields[name] = f.Type
		}
	}
	return fields
}

func quoteRemedy(v any) string {
	switch v.(type) {
	case json.Number, bool:
		return "put it in quotes"
	}
	return "write text"
}

// describe describes a value in an error: the number 5, the text "abc", a list.
func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "empty"
	case string:
		if r := []rune(v); len(r) > 40 {
			v = string(r[:40]) + "…"
		}
		return fmt.Sprintf("the text %q", v)
	case json.Number:
		return "the number " + v.String()
	case bool:
		return fmt.Sprint(v)
	case []any:
		return "a list"
	}
	return "an object"
}
