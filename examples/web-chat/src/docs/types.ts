/** A schema of the document, as far as the page shows it. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  format?: string
  description?: string
  enum?: readonly unknown[]
  const?: unknown
  default?: unknown
  properties?: Record<string, Schema>
  required?: readonly string[]
  items?: Schema
  anyOf?: readonly Schema[]
  oneOf?: readonly Schema[]
  allOf?: readonly Schema[]
  additionalProperties?: boolean | Schema
}

/** A place of an input: in the path, the query or a header. */
export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string
  schema: Schema
}

/** What is sent or received, by its type. */
export type Content = Record<string, { schema?: Schema; example?: unknown }>

/** A response by its status. */
export interface Response {
  description: string
  content?: Content
}

/** An endpoint as the document has it. */
interface RawOperation {
  operationId: string
  summary: string
  description?: string
  tags: readonly string[]
  security?: readonly Record<string, unknown>[]
  parameters?: readonly (Parameter | { $ref: string })[]
  requestBody?: { required?: boolean; content: Content }
  responses: Record<string, Response | { $ref: string }>
}

/** The OpenAPI document of the service. */
export interface OpenApi {
  info: { title: string; version: string; description: string }
  tags: readonly { name: string; description: string }[]
  paths: Record<string, Record<string, RawOperation>>
  components: Record<string, Record<string, unknown>>
}

/** An endpoint, with nothing left to look up but schemas. */
export interface Operation extends Omit<RawOperation, 'parameters' | 'responses' | 'tags'> {
  method: string
  path: string
  tag: string
  parameters: readonly Parameter[]
  responses: readonly (Response & { status: string })[]
}
