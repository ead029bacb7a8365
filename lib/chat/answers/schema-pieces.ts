import * as v from 'valibot'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { label, text } from '../../core/schema.ts'
import { parseUrl } from '../../core/url.ts'
import { MediaType } from '../../files/schema.ts'

const DATA_NAME = /^[a-z][a-z0-9_-]{0,31}$/

const Place = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_LENGTH.answer))

/** The fields of what an answer refers to, as its writer yields them. */
export const SOURCE = {
  url: v.optional(
    v.pipe(
      text(MAX_LENGTH.url),
      v.check(isWebAddress, 'must be an http:// or https:// address'),
      v.metadata({ pattern: '^\\s*[Hh][Tt][Tt][Pp][Ss]?:.+$' }),
      v.description('An http or https URL of visible characters'),
    ),
  ),
  filename: v.optional(v.pipe(text(MAX_LENGTH.file_name), v.minLength(1))),
  media_type: v.optional(MediaType),
  title: v.optional(label(MAX_LENGTH.title)),
  range: v.optional(
    v.pipe(
      v.array(Place),
      v.minLength(2),
      v.maxLength(2),
      v.check(([from, to]) => from! <= to!, 'must not end before it begins'),
      v.description('Where the text refers to it: from, to, in UTF-16 units'),
    ),
  ),
}

/** Whether a source is an address, or a document with its type. */
export function isSource({
  url,
  filename,
  media_type,
}: {
  url?: string
  filename?: string
  media_type?: string
}): boolean {
  return url === undefined ? filename !== undefined && media_type !== undefined : filename === undefined
}

export const SOURCE_FORM = 'must have either url, or filename and media_type'

/** The fields of JSON for a page of the host, as the writer of an answer yields them. */
export const DATA = {
  name: v.pipe(text(32), v.regex(DATA_NAME), v.metadata({ pattern: DATA_NAME.source })),
  key: v.optional(
    v.pipe(
      text(MAX_LENGTH.name),
      v.minLength(1),
      v.description('The same name and key are the same part, whose data is replaced'),
    ),
  ),
  data: v.unknown(),
}

function isWebAddress(url: string): boolean {
  return /^https?:$/.test(parseUrl(url)?.protocol ?? '')
}
