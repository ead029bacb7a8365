import * as v from 'valibot'

/** The description itself, as far as it describes itself. */
export const OpenApiDocument = v.record(v.string(), v.unknown())
