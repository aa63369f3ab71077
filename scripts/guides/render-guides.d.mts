export type Guide = {
	/** Its path from the root. */
	file: string;
	/** The path of its page. */
	address: string;
	title: string;
	sections: { id: string; title: string }[];
	html: string;
};

export const START_FILE: string;
export function renderGuides(files: ReadonlyMap<string, string>): Guide[];
