/** Of each kind of thing that an answer lists; beyond, they are only counted. */
export const MAX_LISTED = 100;

/** The first of many, and how many there are. */
export class Listed<Item> {
	readonly items: Item[] = [];
	count = 0;

	add(item: Item): void {
		this.addMade(() => item);
	}

	/** What takes time to make is made only where it is listed. */
	addMade(make: () => Item): void {
		this.count++;
		if (this.items.length < MAX_LISTED) this.items.push(make());
	}
}
