import { join } from 'node:path'
import { expect, it } from 'vitest'
import { loadConfig } from '../../cli/config/load.ts'
import { createAssistants } from '../../lib/assistant/assistants.ts'
import { type ConfigError, type ConfigInput, parseConfig } from '../../lib/config/parse.ts'
import { findKey, maskSecrets } from '../../lib/config/reference.ts'
import { planReload } from '../../lib/config/reload.ts'
import { folder } from '../cli/process.ts'

const TOOL = { url: 'https://shop.example.org/refund', description: 'Pays back', schema_file: 'refund.json' }

it('the schema of a tool is beside the configuration file, wherever the process was started', () => {
  const place = folder({
    'chat.toml': `
[assistant]
provider = "echo"
tools = ["refund"]
[tools.refund]
url = "https://shop.example.org/refund"
headers = ["Authorization: Bearer hunter2"]
description = "Pays back"
schema_file = "refund.json"
approval = { by = "admins", quorum = 2 }
`,
    'refund.json': '{ "type": "object" }',
  })
  const { config } = loadConfig({ config: join(place, 'chat.toml') }, {})
  expect(createAssistants(config, {}).fallback!.tools).toMatchObject([
    { name: 'refund', schema: { type: 'object' }, fixedApproval: { by: 'admins', quorum: 2, expires_seconds: 86_400 } },
  ])
  expect(JSON.stringify(maskSecrets(config))).not.toContain('hunter2')
  expect(findKey('tools.refund.approval.by')?.key).toBe('tools.<tool>.approval.by')
})

it('a tool is set by the environment, with a path from where the process was started', () => {
  const { config } = loadConfig(
    {},
    {
      CHAT_TOOLS__REFUND__URL: TOOL.url,
      CHAT_TOOLS__REFUND__DESCRIPTION: 'Pays back',
      CHAT_TOOLS__REFUND__SCHEMA_FILE: 'refund.json',
      CHAT_TOOLS__REFUND__TIMEOUT_SECONDS: '5',
      CHAT_TOOLS__REFUND__APPROVAL__BY: 'members',
      CHAT_TOOLS__REFUND__APPROVAL__NOT_ASKER: 'true',
    },
  )
  expect(config.tools.refund).toMatchObject({
    ...{ schema_file: join(process.cwd(), 'refund.json'), timeout_seconds: 5 },
    approval: { by: 'members', not_asker: true },
  })
})

it('a change of a tool needs a restart', () => {
  const before = parseConfig({ tools: { refund: TOOL } })
  const after = parseConfig({ tools: { refund: { ...TOOL, timeout_seconds: 5, approval: { by: 'asker' } } } })
  expect(planReload(before, after)).toMatchObject({
    changed: [],
    needs_restart: ['tools.refund.approval.by', 'tools.refund.timeout_seconds'],
  })
})

it.each<[object, string, string]>([
  [{ 'my tool': TOOL }, 'tools.my tool', 'unknown key'],
  [{ '2nd': TOOL }, 'tools.2nd', 'unknown key'],
  [{ ['x'.repeat(65)]: TOOL }, `tools.${'x'.repeat(65)}`, 'unknown key'],
  [{ refund: {} }, 'tools.refund.url', 'must be set'],
  [{ refund: { ...TOOL, schema_file: undefined } }, 'tools.refund.schema_file', 'must be set'],
  [{ refund: { ...TOOL, description: undefined } }, 'tools.refund.description', 'must be set'],
  [{ refund: { ...TOOL, url: 'ftp://example.org' } }, 'tools.refund.url', 'must be an http:// or https:// address'],
  [{ refund: { ...TOOL, url: 'refund' } }, 'tools.refund.url', 'must be an http:// or https:// address'],
  [{ refund: { ...TOOL, url: 'https://a:b@example.org' } }, 'tools.refund.url', 'without a user'],
  [{ refund: { ...TOOL, headers: ['no header'] } }, 'tools.refund.headers', 'must be a list of "Name: value"'],
  [{ refund: { ...TOOL, timeout_seconds: 3601 } }, 'tools.refund.timeout_seconds', 'from 1 to 3600'],
  [{ refund: { ...TOOL, show: 'none' } }, 'tools.refund.show', 'all, input, name'],
  [{ refund: { ...TOOL, schema: {} } }, 'tools.refund.schema', 'did you mean'],
  [{ refund: { ...TOOL, approval: 'admins' } }, 'tools.refund.approval', 'must be a section with keys'],
  [{ refund: { ...TOOL, approval: { quorum: 2 } } }, 'tools.refund.approval.by', 'must be set, as quorum is'],
  [{ refund: { ...TOOL, approval: { by: 'owners' } } }, 'tools.refund.approval.by', 'asker, admins, members'],
  [{ refund: { ...TOOL, approval: { by: 'admins', quorum: 11 } } }, 'tools.refund.approval.quorum', 'from 1 to 10'],
  [
    { refund: { ...TOOL, approval: { by: 'admins', expires_seconds: 59 } } },
    'tools.refund.approval.expires_seconds',
    'from 60 to 2592000',
  ],
  [{ refund: { ...TOOL, approval: { by: 'asker', quorum: 2 } } }, 'tools.refund.approval.quorum', 'must be 1'],
  [{ refund: { ...TOOL, approval: { by: 'asker', not_asker: true } } }, 'tools.refund.approval.not_asker', 'false'],
  [
    { refund: { ...TOOL, approval: { by: 'admins', quorom: 2 } } },
    'tools.refund.approval.quorom',
    'did you mean tools.refund.approval.quorum?',
  ],
])('refuses the tools %j', (tools, key, message) => {
  try {
    parseConfig({ tools } as ConfigInput)
  } catch (error) {
    const [problem] = (error as ConfigError).problems
    expect(problem).toEqual({ key, message: expect.stringContaining(message) })
    return
  }
  expect.fail('it should have been refused')
})
