# Draws the tree at the end of a trace of `treecast sim --trace FILE` as an SVG:
#
#	awk -f tree.awk FILE > tree.svg
#
# One row a distance from the broker. An attachment is a line from a parent (above)
# to its child: thick to the nearer parent, thin to the other, dashed a luxury
# beside the broker. -v until=SECONDS draws the tree of that moment.
BEGIN { FS = "\t" }
until && $1 > until { exit }
{ match($0, /stream=[0-9]+/); s = substr($0, RSTART + 7, RLENGTH - 7) }
$3 ~ /^subscribe / { parent[s] = $2 }
$3 ~ /^ack OK / { child[s] = $2 }
$3 ~ /^ended / || $3 == "  > end" { delete child[s] }
$3 == "ends" { for (s in child) if (child[s] == $2 || parent[s] == $2) delete child[s] }
END {
	depth[0] = 0; row[0, 0] = 0; count[0] = 1
	for (d = 0; count[d] > 0; d++) { # breadth first
		count[d + 1] = 0
		for (s in child) if ((parent[s] in depth) && depth[parent[s]] == d && !(child[s] in depth)) {
			depth[child[s]] = d + 1
			row[d + 1, count[d + 1]++] = child[s]
		}
	}
	rows = d
	width = 960; gap = 110
	x[0] = width / 2
	for (d = 1; d < rows; d++) {
		for (k = 0; k < count[d]; k++) { # under the middle of the parents, and then by number
			i = row[d, k]; sum = 0; n = 0
			for (s in child) if (child[s] == i && depth[parent[s]] < d) { sum += x[parent[s]]; n++ }
			want[i] = sum / n + i / 1e6
		}
		for (k = 1; k < count[d]; k++) {
			i = row[d, k]
			for (m = k - 1; m >= 0 && want[row[d, m]] > want[i]; m--) row[d, m + 1] = row[d, m]
			row[d, m + 1] = i
		}
		for (k = 0; k < count[d]; k++) x[row[d, k]] = width * (k + 0.5) / count[d]
	}
	printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"11\">\n", width, gap * (rows - 1) + 60
	printf "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
	for (i in depth) near[i] = -1
	for (s in child) if (child[s] in depth) {
		i = child[s]; p = parent[s]
		if (near[i] < 0 || depth[p] < depth[near[i]] || depth[p] == depth[near[i]] && p + 0 < near[i] + 0) near[i] = p
	}
	for (d = 1; d < rows; d++) for (k = 0; k < count[d]; k++) {
		i = row[d, k]
		for (s in child) if (child[s] == i) links[i, ++have[i]] = parent[s]
		for (n = 2; n <= have[i]; n++) for (m = n; m > 1 && links[i, m] + 0 < links[i, m - 1] + 0; m--) {
			p = links[i, m]; links[i, m] = links[i, m - 1]; links[i, m - 1] = p
		}
		for (n = 1; n <= have[i]; n++) {
			p = links[i, n]
			style = p == near[i] ? "stroke=\"#1f4e79\" stroke-width=\"1.6\"" : "stroke=\"#b0603a\" stroke-width=\"0.8\""
			if (p != near[i] && near[i] == 0) style = style " stroke-dasharray=\"4 3\""
			y1 = 30 + gap * depth[p]; y2 = 30 + gap * d
			bend = y1 == y2 ? 45 : 0 # two children of one row
			printf "<path d=\"M%.0f %d Q%.0f %d %.0f %d\" fill=\"none\" %s/>\n", x[p], y1, (x[p] + x[i]) / 2, (y1 + y2) / 2 + bend, x[i], y2, style
		}
	}
	for (d = 0; d < rows; d++) for (k = 0; k < count[d]; k++) {
		i = row[d, k]
		printf "<circle cx=\"%.0f\" cy=\"%d\" r=\"11\" fill=\"%s\" stroke=\"#1f4e79\"/>", x[i], 30 + gap * d, d ? "#eef4fb" : "#f6d9a8"
		printf "<text x=\"%.0f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", x[i], 34 + gap * d, i == 0 ? "B" : i
	}
	print "</svg>"
}
