import { createAssistants } from '../../lib/assistant/assistants.ts'
import { type Config, ConfigError } from '../../lib/config/parse.ts'
import type { ToolConfig } from '../../lib/config/tools.ts'
import { lowerNamed } from '../../lib/core/headers.ts'
import { callConfigured } from '../../lib/outgoing/configured.ts'
import { type Finding, failure, ok } from './finding.ts'
import { describeFailure } from './http.ts'

const TIMEOUT_MS = 10_000

/** A server that knows no OPTIONS responds, too. */
const NOT_IMPLEMENTED = 501

/** Checks that the tools of the configuration can be used, and that their addresses respond. No tool is run. */
export async function checkTools(config: Config): Promise<Finding[]> {
  const tools = Object.entries(config.tools)
  const found = await Promise.all(tools.map(([name, tool]) => checkTool(name, tool)))
  return [...invalid(config), ...found]
}

function invalid(config: Config): Finding[] {
  try {
    createAssistants(config, {})
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.problems.map(({ key, message }) => failure('tools.invalid', `${key}: ${message}.`, `Correct ${key}.`))
  }
}

async function checkTool(name: string, { url, headers }: ToolConfig): Promise<Finding> {
  const call = { method: 'OPTIONS', body: '', max_body: 0, signal: AbortSignal.timeout(TIMEOUT_MS) }
  try {
    const { status } = await callConfigured(url!, { ...call, headers: lowerNamed(headers) })
    if (status < 500 || status === NOT_IMPLEMENTED)
      return ok('tools.reachable', `The address of the tool ${name} responds.`)
    return failure('tools.failing', `The tool ${name} returns status ${status} at ${url}.`, 'Check its server.')
  } catch (error) {
    const reason = call.signal.aborted ? describeFailure(call.signal.reason) : describeFailure(error)
    const message = `The tool ${name} does not respond at ${url}: ${reason}.`
    return failure('tools.unreachable', message, `Start its server, or correct tools.${name}.url.`)
  }
}
