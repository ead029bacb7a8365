import { watchOthers } from './machine.ts'

/** How the rows of one run are measured. */
export interface Bench {
  rounds: number
  /** Length of the measured part of one round. */
  seconds: number
  /** The number of open streams in the rows about many of them. */
  streams: number
  /** The arguments that make Node run the service. */
  command: string[]
}

/** What one round measured: the service and, unless the goal is an absolute figure, its peer. */
export interface Round {
  service: number
  peer?: number
}

/** What a round measured in both, before figures are taken from it. */
export interface Pair<T> {
  service: T
  peer: T
}

/** The figures of rounds that several rows show. */
export function roundsOf<T>(pairs: Pair<T>[], figure: (measured: T) => number): Round[] {
  return pairs.map(({ service, peer }) => ({ service: figure(service), peer: figure(peer) }))
}

/** Runs `measure` once for each bench: the rows that show it share one run. */
export function oncePerBench<T>(measure: (bench: Bench) => Promise<T>): (bench: Bench) => Promise<T> {
  const runs = new WeakMap<Bench, Promise<T>>()
  return (bench) => {
    const run = runs.get(bench) ?? measure(bench)
    runs.set(bench, run)
    return run
  }
}

/** One line of the table. */
export interface Row {
  /** What `--only` calls it. */
  name: string
  title: string
  unit: string
  /** The peer to compare with; without one the figure itself is judged. */
  peer?: string
  better: 'higher' | 'lower'
  /** The goal, as a ratio to the peer, or as a figure where there is none. */
  reach: number
  beyond: number
  /** Why the row cannot be run on this machine, if it cannot. */
  unavailable?: (bench: Bench) => string | undefined
  /** @returns no round where there is nothing to compare. Throws when a round was invalid: a message missing or twice, an order broken, an answer that is not 2xx. */
  measure(bench: Bench): Promise<Round[]>
}

export type Verdict = 'beyond' | 'reached' | 'missed'

/** A row after it was run; `figure` is what the goal is about. */
export interface Outcome {
  row: Row
  rounds: Round[]
  figure?: number
  verdict?: Verdict
  /** Share of the machine's CPU that other programs used meanwhile, from 0 to 1. */
  others?: number | undefined
  skipped?: string
  invalid?: string
}

export async function runRow(row: Row, bench: Bench): Promise<Outcome> {
  const skipped = row.unavailable?.(bench)
  if (skipped) return { row, rounds: [], skipped }
  try {
    const others = watchOthers()
    const rounds = await row.measure(bench)
    if (rounds.length === 0)
      return { row, rounds, skipped: 'it runs no service, of which another build could be compared' }
    const figure = median(rounds.map(figureOf))
    return { row, rounds, figure, verdict: judge(row, figure), others: others() }
  } catch (error) {
    return { row, rounds: [], invalid: error instanceof Error ? error.message : String(error) }
  }
}

/** The ratio to the peer of the same round, or the figure itself: absolute rates drift, ratios of neighbours less. */
export function figureOf(round: Round): number {
  return round.peer === undefined ? round.service : round.service / round.peer
}

export function judge(row: Row, figure: number): Verdict {
  const meets = (goal: number) => (row.better === 'higher' ? figure >= goal : figure <= goal)
  if (meets(row.beyond)) return 'beyond'
  return meets(row.reach) ? 'reached' : 'missed'
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/**
 * As {@link interleave}, for servers that have only just started: a round of each goes before that is not counted, in
 * which they compile what they run most. As users meet them, they have been up for longer.
 */
export async function interleaveWarm<T>(
  rounds: number,
  service: () => Promise<T>,
  peer: () => Promise<T>,
): Promise<Pair<T>[]> {
  await service()
  await peer()
  return interleave(rounds, service, peer)
}

/** Rounds of service and peer in turn; the order alternates, so that a drift favours neither. */
export async function interleave<T>(
  rounds: number,
  service: () => Promise<T>,
  peer: () => Promise<T>,
): Promise<Pair<T>[]> {
  const results: Pair<T>[] = []
  for (let round = 0; round < rounds; round++) {
    if (round % 2) {
      const first = await peer()
      results.push({ service: await service(), peer: first })
    } else {
      results.push({ service: await service(), peer: await peer() })
    }
  }
  return results
}
