/**
 * Networks (AS numbers) of hosting companies, from which people do not browse. No privacy relays (Cloudflare, Fastly and Akamai carry
 * iCloud's), no corporate gateways (Zscaler, Netskope, Microsoft) and no VPN's own networks: people are behind those. An operator
 * adds to the list or empties it (`data_centre` in docs/operations/network.md).
 */
export const DATA_CENTRE_ASNS: ReadonlySet<number> = new Set([
	// Amazon Web Services
	16509, 14618, 8987,
	// Google Cloud
	396982,
	// DigitalOcean
	14061,
	// OVHcloud
	16276, 35540,
	// Hetzner
	24940, 213230, 212317,
	// Akamai Connected Cloud (Linode)
	63949,
	// Vultr
	20473,
	// Alibaba Cloud
	45102, 37963, 134963,
	// Tencent Cloud
	132203, 45090,
	// Huawei Cloud
	136907, 55990,
	// Oracle Cloud
	31898,
	// IBM Cloud
	36351,
	// Scaleway
	12876,
	// Contabo
	51167, 40021, 141995,
	// Leaseweb
	60781, 28753, 30633, 7203, 396362, 395954, 59253, 133752,
	// IONOS
	8560,
	// Hostinger
	47583,
	// UpCloud
	202053, 25697,
	// Gcore
	199524,
	// Selectel, Timeweb, Yandex Cloud
	49505, 9123, 200350,
	// ColoCrossing, Psychz, QuadraNet, Hostwinds
	36352, 40676, 8100, 54290,
	// DreamHost, GoDaddy hosting, Namecheap
	26347, 26496, 22612,
	// netcup, Aruba, Infomaniak
	197540, 31034, 29222,
]);
