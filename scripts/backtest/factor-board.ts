import { PairMap } from "../../src/learning/pair-map.ts";
import {
	isArrived,
	type LevelRules,
	nextPublished,
	type Published,
	renumberPublished,
	UNPUBLISHED,
} from "../../src/learning/publish-step.ts";

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

	/** Goes back to a time: what was published after it does not bind what comes. */
	setBack(now: number): void {
		for (const factor of this.#all) {
			const { at, before } = factor.published;
			factor.published = { ...factor.published, at: Math.min(at, now), before: before.filter(({ until }) => until <= now) };
		}
	}

	/** Has a price stay where its number was changed. @param against says what a factor is against the new number */
	renumber(first: string, second: string, against: (factor: number) => number): void {
		const factor = this.#known(first, second);
		factor.published = renumberPublished(factor.published, against(factor.published.factor), factor.target);
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
