// Package tree prints.
package tree

import "fmt"

// X does so three times.
func X() string {
	fmt.Println("here") // want output
	show := fmt.Printf  // want output
	_, _ = show("%d", 1)
	println("there") // want output
	return fmt.Sprint("this is fine")
}
