import * as v from 'valibot'
import { isFileName, PATTERNS } from '../core/characters.ts'
import { MAX_LENGTH } from '../core/lengths.ts'
import { isStorable } from '../core/schema.ts'

/** A type and a subtype, and parameters (RFC 9110, section 8.3.1). */
const TOKEN = "[A-Za-z0-9!#$%&'*+.^_`|~\\-]+"
const MEDIA_TYPE = `^${TOKEN}/${TOKEN}([ \\t]*;[ \\t]*${TOKEN}=(${TOKEN}|"([\\t \\x21\\x23-\\x5B\\x5D-\\x7E]|\\\\[\\t\\x20-\\x7E])*"))*$`

const IS_MEDIA_TYPE = new RegExp(MEDIA_TYPE)

/** The name of a file, as shown: it is never a path. Outer spaces are removed; normalise it (NFC) before it is stored. */
export const FileName = v.pipe(
  v.string(),
  v.minLength(1, 'must not be empty'),
  v.maxLength(MAX_LENGTH.file_name, `must be at most ${MAX_LENGTH.file_name} characters`),
  v.check(
    (name) => isStorable(name) && isFileName(name),
    'must be a name without /, \\, control, invisible and bidirectional characters',
  ),
  v.metadata({ pattern: PATTERNS.file_name }),
  v.description('Without `/`, `\\`, control, invisible and bidirectional characters; outer spaces are removed'),
  v.trim(),
)

/** The media type that the sender of a file claims, such as `text/plain; charset=utf-8`. */
export const MediaType = v.pipe(
  v.string(),
  v.maxLength(127, 'must be at most 127 characters'),
  v.check((type) => IS_MEDIA_TYPE.test(type), 'must be a media type, such as image/png'),
  v.metadata({ pattern: MEDIA_TYPE }),
)
