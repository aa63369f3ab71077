/**
 * V8 forgets the shape of objects that only last as long as a request at the next full collection that finds none of them, and with it
 * all machine code that was made for it: what is hot then runs slowly until it is compiled again. So of a class, or of anything else that
 * gets its fields one by one, one object is kept. An object literal keeps its shape by itself
 * (docs/decisions/0005-bid-path-without-router.md).
 */
const kept: object[] = [];

/** Keeps a sample, and so its shape, for the isolate's life. Nothing of a request may be in it. */
export function keepShape(sample: object): void {
	kept.push(sample);
}
