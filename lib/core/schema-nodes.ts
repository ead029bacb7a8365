import type * as v from 'valibot'

/** What is read of the structure of a valibot schema. */
export interface SchemaNode {
  type: string
  /** Of an object: the schema of each key. */
  entries?: Record<string, SchemaNode>
  /** Of an object: the schema of all other keys. */
  rest?: SchemaNode
  /** Of an optional or nullable schema: the schema without that. */
  wrapped?: SchemaNode
  /** Of an array. */
  item?: SchemaNode
  /** Of a picklist: its words. Of a union or variant: its schemas. */
  options?: readonly unknown[]
  literal?: unknown
  /** Of a pipe: its schema, and the checks of it. */
  pipe?: readonly SchemaNode[]
  /** Of a check such as `min_value`. */
  requirement?: unknown
  /** Of an optional schema. */
  default?: unknown
}

export function nodeOf(schema: v.GenericSchema): SchemaNode {
  return schema as unknown as SchemaNode
}

/** The schema that a node is. */
export function schemaOf(node: SchemaNode): v.GenericSchema {
  return node as unknown as v.GenericSchema
}

/** The same node, not optional. */
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
