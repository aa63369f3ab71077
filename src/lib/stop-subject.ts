/** Names of what may stop, as the table `stops` has them. */
export const publisherSubject = (id: string) => `publisher ${id}`;
export const brandSubject = (domain: string) => `brand ${domain}`;
export const campaignSubject = (campaignId: number) => `campaign ${campaignId}`;
