/** What scripts/build-assets.mjs makes, as it is known before it has run. */
declare module "*/asset-paths.json" {
	const paths: Record<string, string>;
	export default paths;
}
