import { isArrived, type LevelRules, nextPublished, type Published, UNPUBLISHED } from "../../src/learning/publish-step.ts";

/** The published factors of one level, and where each is going. */
export class FactorBoard {
	readonly #published = new Map<string, Published>();
	readonly #targets = new Map<string, number>();
	/** Those that have not arrived. */
	readonly #moving = new Set<string>();

	factor(key: string): number {
		return this.#published.get(key)?.factor ?? 1;
	}

	aim(key: string, target: number): void {
		this.#targets.set(key, target);
		this.#moving.add(key);
	}

	/** Publishes what may move now; answers how many did. */
	publish(now: number, rules: LevelRules): number {
		let count = 0;
		for (const key of this.#moving) {
			const published = this.#published.get(key) ?? UNPUBLISHED;
			const target = this.#targets.get(key) ?? 1;
			const next = nextPublished(published, target, now, rules);
			if (next !== null) {
				this.#published.set(key, next);
				count++;
			}
			if (isArrived(next ?? published, target, rules)) this.#moving.delete(key);
		}
		return count;
	}

	/** Puts a factor where it aims at once: for what an operator has changed. */
	jump(key: string, target: number): void {
		this.#published.set(key, { ...UNPUBLISHED, factor: target });
		this.#moving.delete(key);
	}
}
