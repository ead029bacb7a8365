/** When something happens by itself: at an interval, or at the times of a line of cron, in UTC. */
export type Schedule = { every_ms: number } | { fields: Set<number>[]; anyDay: boolean[] }

const UNITS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Minute, hour, day of the month, month, day of the week; 7 is Sunday as well. */
const BOUNDS = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 7],
] as const

/** The longest time between two days of a line that has any: 29 February, around a year that is no leap year. */
const MAX_DAYS = 366 * 9

/** A schedule as it is written: `30 3 * * *`, `30m`, `6h` or `1d`; `undefined` for anything else. */
export function parseSchedule(text: string): Schedule | undefined {
  const interval = /^([1-9]\d{0,3})([mhd])$/.exec(text)
  if (interval) return { every_ms: Number(interval[1]) * UNITS[interval[2]!]! }
  const words = text.trim().split(/\s+/)
  if (words.length !== BOUNDS.length) return undefined
  const fields = words.map((word, index) => parseField(word, BOUNDS[index]!))
  if (fields.some((field) => field === undefined)) return undefined
  if (fields[4]!.has(7)) fields[4]!.add(0)
  const schedule = {
    fields: fields as Set<number>[],
    anyDay: [words[2]!, words[4]!].map((word) => word.startsWith('*')),
  }
  // 30 February never comes.
  return nextTime(schedule, 0) === undefined ? undefined : schedule
}

/** `*`, `5`, `1-5`, each with a step (`*` + `/15`), and lists of them. */
function parseField(word: string, [low, high]: readonly [number, number]): Set<number> | undefined {
  const values = new Set<number>()
  for (const part of word.split(',')) {
    const [, any, first, last, step = '1'] = /^(?:(\*)|(\d{1,2})(?:-(\d{1,2}))?)(?:\/(\d{1,2}))?$/.exec(part) ?? []
    if (any === undefined && first === undefined) return undefined
    const from = any ? low : Number(first)
    const to = any || (last === undefined && part.includes('/')) ? high : Number(last ?? first)
    if (from < low || to > high || from > to || Number(step) < 1) return undefined
    for (let value = from; value <= to; value += Number(step)) values.add(value)
  }
  return values
}

/** The first time after `ms`, both in milliseconds since 1970; `undefined` if there is none. */
export function nextTime(schedule: Schedule, ms: number): number | undefined {
  if ('every_ms' in schedule) return ms + schedule.every_ms
  const [minutes, hours] = schedule.fields as [Set<number>, Set<number>]
  const start = new Date(Math.floor(ms / 60_000 + 1) * 60_000)
  for (let days = 0; days < MAX_DAYS; days++) {
    const day = Date.UTC(start.getUTCFullYear(), start.getUTCMonth(), start.getUTCDate() + days)
    if (!isOn(schedule, new Date(day))) continue
    for (const hour of sorted(hours))
      for (const minute of sorted(minutes)) {
        const time = day + hour * 3_600_000 + minute * 60_000
        if (time >= start.getTime()) return time
      }
  }
  return undefined
}

/** As in every cron: if both days are given, one of them is enough. */
function isOn({ fields, anyDay }: Extract<Schedule, { fields: unknown }>, day: Date): boolean {
  if (!fields[3]!.has(day.getUTCMonth() + 1)) return false
  const isDate = fields[2]!.has(day.getUTCDate())
  const isWeekday = fields[4]!.has(day.getUTCDay())
  return anyDay[0] || anyDay[1] ? isDate && isWeekday : isDate || isWeekday
}

function sorted(values: Set<number>): number[] {
  return [...values].sort((a, b) => a - b)
}
