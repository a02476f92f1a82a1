package postrider

import (
	"net/url"
	"strconv"
	"strings"
)

// query collects the parameters of a list in the order in which they are added.
// One that was not given, "" or 0, is not sent.
type query struct{ parts []string }

func (q *query) text(name, value string) {
	if value != "" {
		q.parts = append(q.parts, name+"="+percentEncode(value))
	}
}

func (q *query) number(name string, value int) {
	if value != 0 {
		q.text(name, strconv.Itoa(value))
	}
}

// after appends the query to a path.
func (q *query) after(path string) string {
	if len(q.parts) == 0 {
		return path
	}
	return path + "?" + strings.Join(q.parts, "&")
}

// percentEncode leaves only letters, digits and "-._~" (RFC 3986 section 2.3). A
// plus sign can mean a space, so there is none.
func percentEncode(text string) string {
	return strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
}

// givenList tells a list that is empty, which is sent, from one that is nil.
func givenList[Item any](list []Item) *[]Item {
	if list == nil {
		return nil
	}
	return &list
}
