/** `/favicon.ico`: the bars that stand on every page, drawn here, so that no binary file stands in the sources. */

/** Sixteen rows of sixteen points: `#` is the ground, `o` a bar, `.` lets through what is beneath. */
const POINTS = [
	"..############..",
	".##############.",
	"################",
	"#######oo#######",
	"#######oo#######",
	"#######oo#######",
	"#######oo#######",
	"#######oo#######",
	"###oo##oo#######",
	"###oo##oo#######",
	"###oo##oo##oo###",
	"###oo##oo##oo###",
	"###oo##oo##oo###",
	"################",
	".##############.",
	"..############..",
];
/** Blue, green, red, opacity. */
const COLOURS: Readonly<Record<string, readonly number[]>> = { "#": [0x6b, 0x3f, 0x12, 255], o: [255, 255, 255, 255], ".": [0, 0, 0, 0] };

const SIDE = POINTS.length;
const DIRECTORY_BYTES = 22;
const HEADER_BYTES = 40;
const BITS = 32;
/** Rows of a mask of one bit a point stand behind the points, each filled up to four bytes. */
const MASK_BYTES = SIDE * 4;

/** The icon as an ICO file with one uncompressed picture of 32 bits a point. */
export function drawIcon(): Uint8Array {
	const pictureBytes = HEADER_BYTES + SIDE * SIDE * 4 + MASK_BYTES;
	const file = new DataView(new ArrayBuffer(DIRECTORY_BYTES + pictureBytes));
	const shorts = { 2: 1, 4: 1, 10: 1, 12: BITS, [DIRECTORY_BYTES + 12]: 1, [DIRECTORY_BYTES + 14]: BITS };
	for (const [at, value] of Object.entries(shorts)) file.setUint16(Number(at), value, true);
	file.setUint8(6, SIDE);
	file.setUint8(7, SIDE);
	// A picture with its mask counts as twice as high.
	const longs = {
		14: pictureBytes,
		18: DIRECTORY_BYTES,
		[DIRECTORY_BYTES]: HEADER_BYTES,
		[DIRECTORY_BYTES + 4]: SIDE,
		[DIRECTORY_BYTES + 8]: SIDE * 2,
	};
	for (const [at, value] of Object.entries(longs)) file.setUint32(Number(at), value, true);
	const bytes = new Uint8Array(file.buffer);
	// From the lowest row up.
	const points = POINTS.toReversed().flatMap((row) => [...row].flatMap((point) => COLOURS[point] ?? []));
	bytes.set(points, DIRECTORY_BYTES + HEADER_BYTES);
	return bytes;
}
