import { MAX_LENGTH } from '../core/lengths.ts'
import { opaque } from '../core/schema.ts'

/** An id in a path. One of another kind is found nowhere. */
export const OpenAiId = opaque(MAX_LENGTH.token)
