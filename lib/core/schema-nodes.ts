import type * as v from 'valibot'

/** What is read of the structure of a valibot schema. */
export interface SchemaNode {
  type: string
  /** Objects: the schema of each key. */
  entries?: Record<string, SchemaNode>
  /** Objects: the schema of all other keys. */
  rest?: SchemaNode
  /** Optional and nullable schemas: the schema without that. */
  wrapped?: SchemaNode
  /** Arrays: the schema of an item. */
  item?: SchemaNode
  /** Records: the schemas of a key, and of a value. */
  key?: SchemaNode
  value?: SchemaNode
  /** Picklists: the words. Unions and variants: the schemas. */
  options?: readonly unknown[]
  literal?: unknown
  /** Pipes: the schema, and its checks. */
  pipe?: readonly SchemaNode[]
  /** Checks such as `min_value`: the bound. */
  requirement?: unknown
  /** Optional schemas. */
  default?: unknown
}

export function nodeOf(schema: v.GenericSchema): SchemaNode {
  return schema as unknown as SchemaNode
}

/** The schema that a node is. */
export function schemaOf(node: SchemaNode): v.GenericSchema {
  return node as unknown as v.GenericSchema
}

/** The node without `optional` or `nullable`. */
export function unwrap(node: SchemaNode): SchemaNode {
  return node.wrapped ?? node
}

/** The keys of an object, optional or not; `undefined` of any other schema. */
export function entriesOf(node: SchemaNode): Record<string, SchemaNode> | undefined {
  return unwrap(node).entries
}

/** The schemas that a variant chooses from, those of variants in it included; of any other schema that one. */
export function alternativesOf(node: SchemaNode): SchemaNode[] {
  return node.type === 'variant' ? (node.options as SchemaNode[]).flatMap(alternativesOf) : [node]
}
