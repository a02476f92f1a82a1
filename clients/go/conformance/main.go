// Command conformance runs the calls of clients/conformance/README.md with this
// library: one JSON object per line in, one per line out, all at the same time.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	postrider "postrider.example/postrider-go"
)

type order struct {
	Name    string `json:"name"`
	Options struct {
		APIKey     *string `json:"api_key"`
		BaseURL    *string `json:"base_url"`
		MaxRetries *int    `json:"max_retries"`
		TimeoutMS  *int    `json:"timeout_ms"`
	} `json:"options"`
	Call struct {
		Method string          `json:"method"`
		Args   json.RawMessage `json:"args"`
	} `json:"call"`
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	var running sync.WaitGroup
	var printing sync.Mutex
	defer running.Wait()
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var one order
		if err := json.Unmarshal(line, &one); err != nil {
			return err
		}
		running.Add(1)
		go func() {
			defer running.Done()
			outcome := perform(one)
			printing.Lock()
			defer printing.Unlock()
			fmt.Fprintf(out, "%s\n", outcome)
		}()
	}
}

func perform(one order) []byte {
	outcome := map[string]any{"name": one.Name}
	result, err := callWithNewClient(one)
	if err != nil {
		outcome["error"] = describe(err)
	} else {
		outcome["result"] = asInAPI(result)
	}
	text, err := json.Marshal(outcome)
	if err != nil {
		panic(err)
	}
	return text
}

func callWithNewClient(one order) (any, error) {
	if one.Call.Method == "verify_webhook" {
		return verify(one.Call.Args)
	}
	var options []postrider.Option
	if one.Options.APIKey != nil {
		options = append(options, postrider.WithAPIKey(*one.Options.APIKey))
	}
	if one.Options.BaseURL != nil {
		options = append(options, postrider.WithBaseURL(*one.Options.BaseURL))
	}
	if one.Options.MaxRetries != nil {
		options = append(options, postrider.WithMaxRetries(*one.Options.MaxRetries))
	}
	if one.Options.TimeoutMS != nil {
		options = append(options, postrider.WithTimeout(time.Duration(*one.Options.TimeoutMS)*time.Millisecond))
	}
	client, err := postrider.New(options...)
	if err != nil {
		return nil, err
	}
	return callMethod(client, one.Call.Method, one.Call.Args)
}
