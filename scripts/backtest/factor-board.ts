import { PairMap } from "../../src/learning/pair-map.ts";
import { isArrived, type LevelRules, nextPublished, type Published, UNPUBLISHED } from "../../src/learning/publish-step.ts";

type Factor = { published: Published; target: number };

/** The published factors of one level, each by two names, and where it is going. */
export class FactorBoard {
	readonly #factors = new PairMap<Factor>();
	readonly #all: Factor[] = [];
	/** Those that have not arrived. */
	readonly #moving = new Set<Factor>();

	factor(first: string, second: string): number {
		return this.#factors.get(first, second)?.published.factor ?? 1;
	}

	/** Has all go back to 1, as far as they are not aimed elsewhere. */
	letGo(): void {
		for (const factor of this.#all) {
			factor.target = 1;
			this.#moving.add(factor);
		}
	}

	aim(first: string, second: string, target: number): void {
		const factor = this.#known(first, second);
		factor.target = target;
		this.#moving.add(factor);
	}

	/** Publishes what may move now; answers how many did. */
	publish(now: number, rules: LevelRules): number {
		let count = 0;
		for (const factor of this.#moving) {
			const next = nextPublished(factor.published, factor.target, now, rules);
			if (next !== null) {
				factor.published = next;
				count++;
			}
			if (isArrived(factor.published, factor.target, rules)) this.#moving.delete(factor);
		}
		return count;
	}

	/** Puts a factor where it aims at once: for what an operator has changed. */
	jump(first: string, second: string, target: number): void {
		const factor = this.#known(first, second);
		factor.published = { ...UNPUBLISHED, factor: target };
		this.#moving.delete(factor);
	}

	#known(first: string, second: string): Factor {
		let factor = this.#factors.get(first, second);
		if (factor === undefined) {
			factor = { published: UNPUBLISHED, target: 1 };
			this.#factors.set(first, second, factor);
			this.#all.push(factor);
		}
		return factor;
	}
}
