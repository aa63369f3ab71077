/**
 * First setup of every test file that runs in workerd: a module that is there already is imported without asking for it.
 *
 * For each import statement that runs, the pool of @cloudflare/vitest-plugin goes by a request to its own Durable Object and back,
 * also where Vitest then answers itself that the module is in its cache. The Worker has thousands of such statements, and each file
 * evaluates it anew: that was more than half of what a small file cost. No test here mocks modules, of which Vitest would ask first.
 */
type Invoke = (name: string, data: readonly [url: string, importer?: string, options?: { cached?: boolean }]) => Promise<unknown>;
type VitestGlobals = { __vitest_mocker__: { moduleRunner: { transport: { invoke: Invoke } } } };

const { transport } = (globalThis as unknown as VitestGlobals).__vitest_mocker__.moduleRunner;
const ask = transport.invoke;
// An earlier file of the same process may have done so.
if (ask.name !== answerFromCache.name) transport.invoke = answerFromCache;

async function answerFromCache(...[name, data]: Parameters<Invoke>): Promise<unknown> {
	if (name === "fetchModule" && data[2]?.cached === true) return { cache: true };
	return ask.call(transport, name, data);
}
