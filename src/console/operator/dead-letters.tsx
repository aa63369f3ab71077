/** Messages that no consumer could take: looked at, and sent to their queue again. */
import { mayAct } from "../../http/actor.ts";
import { counted } from "../../lib/counted.ts";
import { QUEUE_NAMES, type QueueName } from "../../lib/enums.ts";
import type { DeadLetter } from "../../operator/dead-letters/replay-answers.ts";
import { listDeadLetters, replayDeadLetters } from "../../operator/dead-letters/replay-dead-letters.ts";
import { page, seeOther } from "../page.ts";
import { Confirm } from "../ui/actions.tsx";
import { addressOf } from "../ui/address.ts";
import { Tabs } from "../ui/filters.tsx";
import { Empty, Notice } from "../ui/messages.tsx";
import { type Column, Figures, Table } from "../ui/table.tsx";
import { Count, State, Time } from "../ui/values.tsx";

const PATH = "/console/operator/dead-letters";
const MAX_SHOWN = 100;

const COLUMNS: readonly Column<DeadLetter>[] = [
	{ head: "Received at", cell: ({ received_at }) => <Time at={received_at} /> },
	{ head: "Queue", cell: ({ queue }) => queue },
	{ head: "State", cell: ({ replayed_at }) => <State word={replayed_at === null ? "waiting" : "replayed"} /> },
	{ head: "Sent again at", cell: ({ replayed_at }) => <Time at={replayed_at} /> },
	{
		head: "Message",
		cell: ({ body }) => (
			<details>
				<summary>Message</summary>
				<pre>{JSON.stringify(body, null, 2)}</pre>
			</details>
		),
	},
];

function queueOf(text: string | undefined | null): QueueName | null {
	return QUEUE_NAMES.find((name) => name === text) ?? null;
}

export const DEAD_LETTERS_PAGES = [
	page({
		method: "GET",
		path: PATH,
		needs: { staff: "viewer" },
		title: "Dead letters",
		async handle({ deps, query, now, person }) {
			const queue = queueOf(query.queue);
			const { remaining } = await replayDeadLetters(deps.watching, { queue: null, until: now, actor: null });
			const letters = await listDeadLetters(deps.db, queue, MAX_SHOWN);
			const waiting = queue === null ? QUEUE_NAMES.reduce((sum, name) => sum + remaining[name], 0) : remaining[queue];
			return (
				<>
					{query.replayed === undefined ? null : (
						<Notice tone="good">
							Sent again: {/^\d{1,9}$/.test(query.replayed) ? query.replayed : "some"}. What fails again comes back here.
						</Notice>
					)}
					<Figures figures={QUEUE_NAMES.map((name) => ({ name: `Waiting, ${name}`, value: <Count of={remaining[name]} /> }))} />
					<Tabs
						label="Queues"
						path={PATH}
						query={{}}
						name="queue"
						tabs={[{ value: "", label: "All" }, ...QUEUE_NAMES.map((name) => ({ value: name, label: name }))]}
					/>
					{waiting === 0 || !mayAct(person.role, "finance") ? null : (
						<Confirm
							action={`${PATH}/replay`}
							label="Send again"
							question={`This sends ${counted(waiting, "message")} through again. What has been mended since is taken; nothing is counted twice.`}
							fields={{ queue: queue ?? "" }}
						/>
					)}
					<Table
						caption={`The newest ${MAX_SHOWN} at most`}
						columns={COLUMNS}
						rows={letters}
						empty={
							<Empty title="No message was lost on its way">
								<p>Messages come here that failed every try of their consumer.</p>
							</Empty>
						}
					/>
				</>
			);
		},
	}),
	page({
		method: "POST",
		path: `${PATH}/replay`,
		needs: { staff: "finance" },
		title: "Dead letters",
		async handle({ deps, form, now, actor }) {
			const queue = queueOf(form.get("queue"));
			const { replayed } = await replayDeadLetters(deps.watching, { queue, until: now, actor });
			const sent = QUEUE_NAMES.reduce((sum, name) => sum + replayed[name], 0);
			return seeOther(addressOf(PATH, { replayed: String(sent), ...(queue !== null && { queue }) }));
		},
	}),
];
