package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	postrider "postrider.example/postrider-go"
)

func describe(err error) map[string]any {
	kind := reflect.TypeOf(err).Elem().Name()
	var base *postrider.Error
	if !errors.As(err, &base) {
		return map[string]any{"class": kind, "base": false, "message": err.Error()}
	}
	if kind == "Error" {
		kind = "PostriderError" // the package has the other half of the name
	}
	described := map[string]any{
		"class":       kind,
		"base":        true,
		"status":      orNull(base.Status),
		"code":        orNull(base.Code),
		"message":     base.Message,
		"request_id":  orNull(base.RequestID),
		"timeout":     nil,
		"retry_after": nil,
		"domain":      nil,
		"check":       nil,
		"index":       base.Index,
		"text":        fmt.Sprintf("%v %+v %#v", err, err, base),
	}
	var network *postrider.NetworkError
	if errors.As(err, &network) {
		described["timeout"] = network.Timeout
	}
	var limited *postrider.RateLimitError
	if errors.As(err, &limited) {
		described["retry_after"] = orNull(limited.RetryAfter.Seconds())
	}
	var invalid *postrider.ValidationError
	if errors.As(err, &invalid) {
		described["domain"] = orNull(invalid.Domain)
		described["check"] = invalid.Check
	}
	return described
}

// asInAPI gives times the milliseconds that Go leaves out where they are round.
func asInAPI(value any) any {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var plain any
	if err := decoder.Decode(&plain); err != nil {
		panic(err)
	}
	return withMilliseconds(plain)
}

func withMilliseconds(value any) any {
	switch part := value.(type) {
	case string:
		if at, err := time.Parse(time.RFC3339Nano, part); err == nil {
			return at.Format("2006-01-02T15:04:05.000Z07:00")
		}
	case []any:
		for index := range part {
			part[index] = withMilliseconds(part[index])
		}
	case map[string]any:
		for name := range part {
			part[name] = withMilliseconds(part[name])
		}
	}
	return value
}

// orNull is nil for what stands for nothing in the library.
func orNull[Value comparable](value Value) any {
	var nothing Value
	if value == nothing {
		return nil
	}
	return value
}
