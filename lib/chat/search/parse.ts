import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { fromInstant } from '../../core/time.ts'
import { DAY } from '../../core/units.ts'
import { FILTERS, invalid, parseQuery, type Query } from './rules-query.ts'
import { Day, Has, type SearchQuery, toInstantText, When } from './schema.ts'

/** A requested search, with the filters of the query and of the parameters. */
export interface ParsedSearch extends Query {
  before: number
  after: number
  has: Set<Has>
  /** A digest of all of it: a cursor of another search has another. */
  digest: string
}

/** @throws ChatError `validation_failed` with the path of the parameter, also if it is in `q` */
export function parseSearch(input: SearchQuery): ParsedSearch {
  const query = parseQuery(input.q)
  const { filters: narrowing } = query
  for (const key of FILTERS) if (input[key] !== undefined) narrowing[key].push(input[key])
  const isNarrow = [narrowing.in, narrowing.from, narrowing.thread, narrowing.has].some((values) => values.length > 0)
  if (query.all.length === 0 && !isNarrow) throw invalid('must have a word that is to be found')
  const { all, none } = query
  const days = narrowing.on.map(readDay)
  const before = [...narrowing.before.map((text) => readInstant(text, 'before')), ...days.map((day) => day + DAY)]
  const after = [...narrowing.after.map((text) => readInstant(text, 'after')), ...days]
  return {
    ...query,
    before: Math.min(...before, Number.MAX_SAFE_INTEGER),
    after: Math.max(...after, 0),
    has: new Set(narrowing.has.map(readHas)),
    digest: createHash('sha256')
      .update(JSON.stringify([all, none, narrowing]))
      .digest('hex')
      .slice(0, 16),
  }
}

/** In microseconds. */
function readInstant(text: string, path: string): number {
  if (!v.is(When, text)) throw invalid('must be an RFC 3339 instant, or a date', path)
  return fromInstant(toInstantText(text))
}

/** The beginning of a day in UTC, in microseconds. */
function readDay(text: string): number {
  if (!v.is(Day, text)) throw invalid('must be a date', 'on')
  return fromInstant(toInstantText(text))
}

function readHas(text: string): Has {
  if (!v.is(Has, text)) throw invalid(`must be one of ${Has.options.join(', ')}`, 'has')
  return text
}
