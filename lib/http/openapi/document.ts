import * as v from 'valibot'

/** The OpenAPI document as a schema. */
export const OpenApiDocument = v.record(v.string(), v.unknown())
