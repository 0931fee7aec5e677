// Package view draws a cohort's tree for people: a whole network whose nodes
// are all known, or what one node sees of it.
package view
