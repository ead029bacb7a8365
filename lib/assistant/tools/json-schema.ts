import type { OutputUnit, Schema, SchemaDraft, Validator } from '@cfworker/json-schema'
import { issueText } from './issue-text.ts'
import type { Tool } from './tool.ts'

/** What checks inputs by a JSON Schema in which nothing is wrong. The checker is loaded with the first input. */
export function checkedBySchema(schema: object): Tool['validate'] {
  // The checker notes addresses in the schema.
  const own = structuredClone(schema) as Schema
  let loading: Promise<Validator> | undefined
  return async (input) => {
    try {
      loading ??= import('@cfworker/json-schema').then((library) => new library.Validator(own, draftOf(own), false))
      const { valid, errors } = (await loading).validate(input)
      return valid ? { value: input } : { issues: issueText(leavesOf(errors).map(toIssue)) }
    } catch (error) {
      return { issues: 'The input could not be checked.', error }
    }
  }
}

function draftOf({ $schema = '' }: Schema): SchemaDraft {
  if (/draft-0?7\b/.test($schema)) return '7'
  return /2019-09/.test($schema) ? '2019-09' : '2020-12'
}

/** The errors themselves, without those of the keywords around them. */
function leavesOf(errors: OutputUnit[]): OutputUnit[] {
  const isAround = ({ keywordLocation }: OutputUnit) =>
    errors.some((other) => other.keywordLocation.startsWith(`${keywordLocation}/`))
  return errors.filter((error) => !isAround(error))
}

function toIssue({ instanceLocation, error }: OutputUnit) {
  const path = instanceLocation.split('/').slice(1).map(unescaped)
  return { path, message: error }
}

/** A segment of a JSON Pointer in a URI fragment. */
function unescaped(segment: string): string {
  return decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~')
}
