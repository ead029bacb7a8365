import { parseArgs } from 'node:util'

export interface Options {
  rounds: number
  /** Length of the measured part of one round. */
  seconds: number
  /** Names of the rows to run; empty means all. */
  only: string[]
  json: boolean
  /** The number of open streams in the rows about many of them. */
  streams: number
}

export const USAGE = `npm run bench -- [--rounds N] [--seconds S] [--quick] [--only row]... [--streams N] [--json]

  --rounds N   interleaved rounds of each row (5)
  --seconds S  measured seconds of each round (3)
  --quick      2 rounds of 1 second, 100 streams: does it run at all?
  --only row   that row only; may be repeated, or a list with commas
  --streams N  open streams of the rows about many streams (2,000; at most 20,000)
  --json       one JSON document on stdout instead of the table`

/** @throws Error with a message for the user when an option is unknown or out of range */
export function parseOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      streams: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  })
  const rounds = Number(values.rounds ?? (values.quick ? 2 : 5))
  const seconds = Number(values.seconds ?? (values.quick ? 1 : 3))
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds takes a whole number from 1')
  if (!(seconds >= 0.2 && seconds <= 60)) throw new Error('--seconds takes a number from 0.2 to 60')
  const streams = Number(values.streams ?? (values.quick ? 100 : 2_000))
  if (!Number.isInteger(streams) || streams < 40 || streams > 20_000)
    throw new Error('--streams takes a whole number from 40 to 20000')
  const only = values.only.flatMap((names) => names.split(',')).filter(Boolean)
  return { rounds, seconds, only, json: values.json, streams }
}
