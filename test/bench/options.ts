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
  /** The folder of another checkout, whose build is measured in turn with this one. */
  against?: string
  /** The sizes of databases to compare, in messages, instead of the rows. */
  growth?: number[]
}

export const USAGE = `npm run bench -- [--rounds N] [--seconds S] [--quick] [--only row]... [--streams N] [--against folder] [--json]
npm run bench -- --growth [N,N…] [--seconds S] [--quick] [--json]

  --rounds N   interleaved rounds of each row (5)
  --seconds S  measured seconds of each round (3)
  --quick      2 rounds of 1 second, 100 streams: does it run at all?
  --only row   that row only; may be repeated, or a list with commas
  --streams N  open streams of the rows about many streams (2,000; at most 20,000)
  --against F  each row beside that of another build instead of its peer: the one in F, a checkout with its dist/
  --growth     instead of the rows: the service on databases of 10,000 and 1,000,000 messages, or of these sizes
  --json       one JSON document on stdout instead of the table`

/** With `--quick`, and without. */
const SIZES = { quick: [10_000, 50_000], full: [10_000, 1_000_000] }

/** @throws Error with a message for the user when an option is unknown or out of range */
export function parseOptions(args: string[]): Options {
  const { values } = parseArgs({
    args: withValue(args, '--growth'),
    options: {
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      streams: { type: 'string' },
      against: { type: 'string' },
      growth: { type: 'string' },
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
  const { json, against, growth, quick } = values
  return { rounds, seconds, only, json, streams, ...(against && { against }), ...growthOf(growth, quick) }
}

function growthOf(sizes: string | undefined, quick: boolean): { growth?: number[] } {
  if (sizes === undefined) return {}
  const growth = sizes ? sizes.split(',').map(Number) : SIZES[quick ? 'quick' : 'full']
  if (growth.some((size) => !Number.isInteger(size) || size < 10_000 || size > 100_000_000))
    throw new Error('--growth takes whole numbers from 10000 to 100000000, with commas')
  return { growth }
}

/** An option that may stand without a value gets an empty one. */
function withValue(args: string[], option: string): string[] {
  return args.flatMap((arg, n) => (arg === option && /^(-|$)/.test(args[n + 1] ?? '') ? [`${option}=`] : [arg]))
}
