const OCTET = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const IPV4 = new RegExp(`^${OCTET}\\.${OCTET}\\.${OCTET}\\.${OCTET}$`);
const DOT = 0x2e;
const ZERO = 0x30;

/**
 * An IPv4 address in dotted form as its 32-bit integer, or null where it is not one.
 * Leading zeros are refused: resolvers read them as octal or decimal at will.
 * @example ipv4ToInteger("1.2.3.4") // 16909060
 */
export function ipv4ToInteger(text: string): number | null {
	if (!IPV4.test(text)) return null;
	let value = 0;
	let octet = 0;
	for (let at = 0; at < text.length; at++) {
		const code = text.charCodeAt(at);
		if (code === DOT) {
			value = value * 256 + octet;
			octet = 0;
		} else octet = octet * 10 + code - ZERO;
	}
	return value * 256 + octet;
}

/**
 * The network that an address is in, so that the address itself need not be kept: 24 bits of an IPv4 address, 48 of an IPv6
 * one. Null where the text is no address.
 * @example networkPrefix("203.0.113.7") // "203.0.113.0/24"
 * @example networkPrefix("2001:db8:85a3::8a2e:370:7334") // "2001:db8:85a3::/48"
 */
export function networkPrefix(text: string): string | null {
	if (IPV4.test(text)) return `${text.slice(0, text.lastIndexOf("."))}.0/24`;
	const groups = ipv6Groups(text);
	if (groups === null) return null;
	const mapped = mappedIpv4(groups);
	return mapped === null ? prefixOf(groups, 48) : `${mapped.slice(0, mapped.lastIndexOf("."))}.0/24`;
}

/**
 * What stands for one connection in limits and velocities: an IPv4 address, or the 64 bits of an IPv6 address that its network is
 * given. Null where the text is no address.
 * @example connectionOf("2001:db8:85a3:1::7334") // "2001:db8:85a3:1::/64"
 */
export function connectionOf(text: string): string | null {
	if (IPV4.test(text)) return text;
	const groups = ipv6Groups(text);
	return groups === null ? null : (mappedIpv4(groups) ?? prefixOf(groups, 64));
}

/** How {@link connectionOf} ends of an IPv6 address. */
const OF_64 = "::/64";

/**
 * A connection as the site that it is of, and which network of that: of an IPv6 one the first 56 bits, which one home may have, and of which
 * a carrier gives to as many phones as share an IPv4 address; then the last eight, as two hex characters. An IPv4 address is a site.
 * @example splitConnection("2001:db8:85a3:1::/64") // { site: "2001:db8:85a3:0::/56", network: "01" }
 */
export function splitConnection(connection: string): { site: string; network: string } {
	if (!connection.endsWith(OF_64)) return { site: connection, network: "" };
	// Groups of zeros at the end are not written.
	const [first = "", second = "0", third = "0", fourth = "0"] = connection.slice(0, -OF_64.length).split(":");
	const last = Number.parseInt(fourth, 16);
	return {
		site: `${first}:${second}:${third}:${(last >>> 8).toString(16)}::/56`,
		network: (0x100 | (last & 0xff)).toString(16).slice(1),
	};
}

/**
 * The network of 48 bits of an IPv6 connection, as {@link networkPrefix} has it but for zeros; null of an IPv4 one.
 * @example wideNetworkOf("2001:db8:85a3:1::/64") // "2001:db8:85a3::/48"
 */
export function wideNetworkOf(connection: string): string | null {
	if (!connection.endsWith(OF_64)) return null;
	const [first = "", second = "0", third = "0"] = connection.slice(0, -OF_64.length).split(":");
	return `${first}:${second}:${third}::/48`;
}

function prefixOf(groups: readonly number[], bits: number): string {
	const prefix = groups.slice(0, bits / 16).map((group) => group.toString(16));
	return `${prefix.join(":").replace(/(?:^0)?(?::0)+$/, "")}::/${bits}`;
}

/** An IPv4 address that is written as an IPv6 one; null where it is none. */
function mappedIpv4(groups: readonly number[]): string | null {
	if (!groups.slice(0, 5).every((group) => group === 0) || groups[5] !== 0xffff) return null;
	const [high = 0, low = 0] = groups.slice(6);
	return `${high >>> 8}.${high & 255}.${low >>> 8}.${low & 255}`;
}

/** Written out, or with a gap between groups, which may still be too many: as nearly every IPv6 address comes. */
const PLAIN_IPV6 = /^(?:[0-9a-f]{1,4}:){1,7}(?:(?::[0-9a-f]{1,4}){1,6}|:|[0-9a-f]{1,4})$/i;
const GROUPS = 8;

function ipv6Groups(text: string): number[] | null {
	if (!/^[0-9a-f:.]{2,45}$/i.test(text) || !text.includes(":")) return null;
	if (PLAIN_IPV6.test(text)) {
		const colons = text.split(":").length - 1;
		// To ask the URL parser costs a bid more than all else of its device.
		if (text.includes("::") ? colons < GROUPS : colons === GROUPS - 1) return expand(text);
	}
	// The URL parser checks and compresses an IPv6 address, and writes an embedded IPv4 address in hex.
	const host = URL.parse(`http://[${text}]/`)?.hostname.slice(1, -1);
	return host === undefined ? null : expand(host);
}

/** The eight groups of a compressed IPv6 address. */
function expand(host: string): number[] {
	const [head = "", tail] = host.split("::");
	const read = (part: string) => (part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16)));
	if (tail === undefined) return read(head);
	const [left, right] = [read(head), read(tail)];
	return [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
}
