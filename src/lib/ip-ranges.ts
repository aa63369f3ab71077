import ipaddr from "ipaddr.js";

/**
 * Whether an address lies in one of these addresses or ranges. An IPv4 address that is written as an IPv6 one is that IPv4 address.
 * @param ranges as `203.0.113.0/24` or `2001:db8::1`; what is none of both is no range
 */
export function isInRanges(address: string, ranges: readonly string[]): boolean {
	if (!ipaddr.isValid(address)) return false;
	const parsed = ipaddr.process(address);
	return ranges.some((range) => {
		if (ipaddr.isValidCIDR(range)) {
			const [base, bits] = ipaddr.parseCIDR(range);
			return base.kind() === parsed.kind() && parsed.match(base, bits);
		}
		return ipaddr.isValid(range) && ipaddr.process(range).toNormalizedString() === parsed.toNormalizedString();
	});
}
