import * as v from 'valibot'
import type { Config } from '../api/config.ts'
import { MAX_LENGTH } from '../core/lengths.ts'
import { parseUrl } from '../core/url.ts'
import { ApprovalSection, approvalProblem } from './approval.ts'
import { assistantName, headerList } from './assistants.ts'
import { flag, integer, key, oneOf, section, someText, text } from './key.ts'

/** The form of the name of a tool: models take no other characters. */
const TOOL_NAME = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/

/** The maximum number of tools: a model does worse with more than a few dozen. */
const MAX_TOOLS = 128

const toolUrl = v.pipe(
  text,
  v.maxLength(MAX_LENGTH.url, `must have at most ${MAX_LENGTH.url} characters`),
  v.check(isHttpUrl, 'must be an http:// or https:// address without a user'),
)

/** What every tool has beside its function: the bounds are those of a host's tools, too. */
export const TOOL_SETTINGS = {
  title: assistantName,
  description: someText,
  idempotent: flag,
  timeout_seconds: integer(1, 3600),
  show: oneOf('all', 'input', 'name'),
}

const ToolSection = section({
  url: key(toolUrl, undefined, 'URL that is called with each call of the tool. Required.'),
  headers: key(headerList, undefined, 'Additional headers of these requests, each as "Name: value".', {
    secret: 'header',
  }),
  description: key(TOOL_SETTINGS.description, undefined, 'What the tool does, for the model. Required.'),
  schema_file: key(
    someText,
    undefined,
    'Path of a file with the JSON Schema of its input, an object; a relative path begins at the folder of the configuration file. Required.',
  ),
  title: key(TOOL_SETTINGS.title, undefined, 'Name of the tool in pages. Default: its key.'),
  idempotent: key(
    TOOL_SETTINGS.idempotent,
    undefined,
    'Whether a call may be repeated with the same call_id, up to three times, such as after a crash. Default: false.',
  ),
  timeout_seconds: key(
    TOOL_SETTINGS.timeout_seconds,
    undefined,
    'After this time the result of a call is not awaited. Default: 30.',
    {
      unit: 'seconds',
    },
  ),
  show: key(
    TOOL_SETTINGS.show,
    undefined,
    'What participants read of a call: input and output, the input, or only the name of the tool. Default: all.',
  ),
  approval: ApprovalSection,
})

/** The configuration of one tool. */
export type ToolConfig = v.InferOutput<typeof ToolSection>

/** The tools that are called over HTTP: a section with any name for each. */
export const ToolsSection = v.optional(
  v.objectWithRest({}, ToolSection as v.GenericSchema<unknown, ToolConfig>),
  {} as never,
)

/** Whether a tool may have this name. */
export function isToolName(name: string): boolean {
  return TOOL_NAME.test(name) && name !== 'constructor' && name !== 'prototype'
}

/** Missing or contradictory keys of tools. */
export function toolProblems({ tools }: Config): { key: string; message: string }[] {
  const names = Object.keys(tools)
  const problems = names.flatMap((name) => {
    const missing = (['url', 'description', 'schema_file'] as const).filter((part) => tools[name]![part] === undefined)
    const approval = approvalProblem(tools[name]!.approval)
    return [
      ...missing.map((part) => ({ key: `tools.${name}.${part}`, message: 'must be set' })),
      ...(approval ? [{ ...approval, key: `tools.${name}.approval.${approval.key}` }] : []),
    ]
  })
  if (names.length > MAX_TOOLS) problems.push({ key: 'tools', message: `must have at most ${MAX_TOOLS} sections` })
  return problems
}

function isHttpUrl(address: string): boolean {
  const url = parseUrl(address)
  return url !== undefined && /^https?:$/.test(url.protocol) && !url.username && !url.password
}
