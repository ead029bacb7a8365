import { readFileSync } from 'node:fs'
import { causeText } from '../../core/errors.ts'
import { schemaProblem } from './json-schema-problem.ts'

/** Far above any schema; a larger file is a mistake. */
const MAX_BYTES = 256 * 1024

/** A file that has no JSON Schema of an object; the message names it, and why. */
export class SchemaFileError extends Error {
  override readonly name = 'SchemaFileError'
}

/** The JSON Schema in a file. @throws SchemaFileError */
export function readSchemaFile(path: string): object {
  const schema = parse(path)
  const refuse = (message: string) => new SchemaFileError(`${path} ${message}`)
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) throw refuse('has no object')
  const problem = schemaProblem(schema)
  if (problem) throw refuse(`is no JSON Schema: ${problem.path} ${problem.message}`)
  if ((schema as { type?: unknown }).type !== 'object')
    throw refuse('must have the schema of an object: "type": "object"')
  return schema
}

function parse(path: string): unknown {
  try {
    const bytes = readFileSync(path)
    if (bytes.length > MAX_BYTES) throw new SchemaFileError(`${path} is larger than 256 KiB`)
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    if (error instanceof SchemaFileError) throw error
    const { code } = error as NodeJS.ErrnoException
    throw new SchemaFileError(
      code?.startsWith('E') && !code.startsWith('ERR')
        ? `${path} cannot be read: ${code}`
        : `${path} is no JSON: ${causeText(error)}`,
    )
  }
}
