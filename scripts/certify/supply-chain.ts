/** Supply chains as OpenRTB serializes them: `ver,complete!asi,sid,hp,rid,name,domain,ext!…`, values percent-encoded. */

/** `hp` is 1 in every chain of this version. */
type SupplyNode = { asi: string; sid: string; hp: number; rid?: string; name?: string; domain?: string };
export type SupplyChain = { ver: string; complete: number; nodes: SupplyNode[] };

/** Null where the text is no complete chain whose nodes all have `asi` and `sid`: others never bid where a chain is asked for. */
export function readSupplyChain(text: string): SupplyChain | null {
	const [head = "", ...nodes] = text.trim().split("!");
	const [ver = "", complete] = head.split(",");
	if (!/^\d+\.\d+$/.test(ver) || complete !== "1" || nodes.length === 0) return null;
	const read = nodes.map(readNode);
	const whole = read.filter((node) => node !== null);
	return whole.length === read.length ? { ver, complete: 1, nodes: whole } : null;
}

function readNode(text: string): SupplyNode | null {
	const [asi, sid, hp, rid, name, domain] = text.split(",").map(decode);
	if (!asi || !sid) return null;
	return { asi, sid, hp: hp === "0" ? 0 : 1, ...(rid && { rid }), ...(name && { name }), ...(domain && { domain }) };
}

/** A value that is no percent-encoding stands for itself. */
function decode(value: string): string {
	try {
		return decodeURIComponent(value).trim();
	} catch (error) {
		if (error instanceof URIError) return value.trim();
		throw error;
	}
}
