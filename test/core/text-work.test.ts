import { expect, it } from 'vitest'
import { counted, findInSources, type SourceNode, undecided } from '../support/sources.ts'

/** Why a text is short enough for what is slow on long ones: the square of its length, or worse. */
const BOUNDS = {
  piece: 'a piece of at most 64 UTF-16 units',
  input: 'a field of an input, which was measured before: at most 1,024 units',
  line: 'a short text whose length is limited where it is read',
  linear: 'of any length: the time is in proportion to it',
  own: 'a text that the program itself wrote',
  operator: 'configuration, arguments, and files of the operator',
  server: 'the answer of a server that the operator configured',
} as const

type Bound = keyof typeof BOUNDS

/** What normalises, compares or segments texts, or takes apart those of others; by file: the calls, and the bound of the text. */
const CALLS: Record<string, Record<string, Bound>> = {
  'cli/commands/config.ts': { 'confbox ×1': 'own' },
  'cli/commands/openapi.ts': { 'confbox ×1': 'own' },
  'cli/config/file.ts': { 'confbox ×1': 'operator' },
  'cli/config/template.ts': { 'confbox ×1': 'own' },
  'cli/user-list.ts': { 'csv-parse/sync ×1': 'line' },
  'lib/accounts/administration/rules.ts': { 'normalize ×1': 'input' },
  'lib/accounts/host-identity/rules.ts': { 'normalize ×1': 'input' },
  'lib/accounts/oauth/rules.ts': { 'normalize ×1': 'input' },
  'lib/accounts/passwords/hash.ts': { 'normalize ×2': 'input' },
  'lib/accounts/profile/service.ts': { 'normalize ×1': 'input' },
  'lib/accounts/users/rules.ts': { 'normalize ×1': 'input' },
  'lib/accounts/users/rules-naming.ts': { 'normalize ×1': 'input' },
  'lib/accounts/users/schema.ts': { 'normalize ×2': 'input' },
  'lib/accounts/users/service.ts': { 'normalize ×1': 'input' },
  'lib/accounts/users/store-names.ts': { 'normalize ×1': 'input' },
  'lib/integrations/bots/rules.ts': { 'normalize ×1': 'input' },
  'lib/backups/rules.ts': { 'localeCompare ×1': 'own' },
  'lib/chat/attachments/service.ts': { 'normalize ×1': 'input' },
  'lib/chat/people/query.ts': { 'normalize ×1': 'input' },
  'lib/chat/search/rules-excerpt.ts': { 'segment ×1': 'piece' },
  'lib/core/folding.ts': { 'normalize ×2': 'piece' },
  'lib/core/characters.ts': { 'normalize ×1': 'input' },
  'lib/http/openapi/build.ts': { 'confbox/yaml ×1': 'own' },
  'lib/files/names.ts': { 'normalize ×1': 'input' },
}

/** Folders whose slow regular expressions read what the operator wrote, or the program itself. */
const TRUSTED: Record<string, Bound> = {
  'cli/': 'operator',
  'lib/backups/': 'own',
  'lib/config/': 'operator',
  'lib/http/openapi/': 'own',
  'lib/mail/': 'operator',
  'lib/metrics/': 'own',
  'lib/storage/names/': 'own',
  'lib/storage/objects/': 'server',
  'lib/storage/schema/': 'own',
  'lib/storage/sql.ts': 'own',
  'lib/storage/temporary.ts': 'own',
}

/** Regular expressions elsewhere that may take more than linear time, or are not written out. */
const PATTERNS: Record<string, Record<string, Bound>> = {
  'lib/accounts/authentication/service.ts': { '/^[\\w-]+\\.[\\w-]+\\.[\\w-]+$/': 'linear' },
  'lib/accounts/grants/refresh-token.ts': { 'new RegExp(…)': 'linear' },
  'lib/accounts/oauth-clients/rules.ts': {
    '/^https:\\/\\/[^/?#@\\\\\\s]+\\/[^?#\\\\\\s]+$/': 'linear',
    '/^https:\\/\\/(?:[A-Za-z0-9.-]+|\\[[0-9A-Fa-f:.]+\\])(?::\\d{1,5})?(?:[/?].*)?$/': 'linear',
  },
  'lib/accounts/users/schema.ts': { '/^[^,]*(,[^,]*){0,99}$/': 'linear' },
  'lib/assistant/echo.ts': { '/\\S+\\s*|\\s+/': 'linear' },
  'lib/assistant/tools/json-schema-problem.ts': { 'new RegExp(…)': 'operator' },
  'lib/assistant/openai/provider.ts': { '/\\/+$/': 'operator' },
  'lib/chat/attachments/rules.ts': { '/(?:^|[,\\s])sha-256=:([^:]*):/': 'linear' },
  'lib/chat/feed/schema.ts': { '/^[a-z.*]+(,[a-z.*]+)*$/': 'linear' },
  'lib/chat/mentions/rules-edges.ts': { 'new RegExp(…)': 'linear' },
  'lib/chat/mentions/rules-excluded.ts': { '/^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/': 'linear' },
  'lib/chat/copies/reading.ts': { 'new RegExp(…)': 'input' },
  'lib/chat/messages/rules.ts': { 'new RegExp(…)': 'own' },
  'lib/core/folding.ts': { 'new RegExp(…)': 'piece' },
  'lib/chat/search/rules-query.ts': {
    '/(?<minus>-?)(?:(?:(?<key>[A-Za-z]+):)?"(?<quoted>[^"]*)"?|(?<plain>[^\\s"]+))/': 'input',
    '/^(?<key>[A-Za-z]+):(?<value>.+)$/': 'input',
  },
  'lib/client/backoff.ts': { '/^\\d+(\\.\\d+)?$/': 'linear' },
  'lib/client/parse-command.ts': { '/^[+-]?(\\d+\\.?\\d*|\\.\\d+)$/': 'linear' },
  'lib/client/path.ts': { '/\\{(\\w+)\\}/': 'own', '/\\{\\w+\\}/': 'own' },
  'lib/client/upload.ts': {
    '/([#*0-9]\\uFE0F\\u20E3|[^\\0-\\u00A0\\p{Z}\\p{Cf}\\p{DI}\\u2800](?:\\u200C|\\u200D|[\\uFE00-\\uFE0F]|[\\u180B-\\u180D\\u180F]|[\\u{E0020}-\\u{E007F}]|[\\u{E0100}-\\u{E01EF}])+)|[\\p{Cc}\\p{Cf}\\p{DI}\\u2028\\u2029\\u2800]/':
      'linear',
  },
  'lib/core/addresses.ts': { 'new RegExp(…)': 'input' },
  'lib/core/characters.ts': { 'new RegExp(…)': 'input' },
  'lib/core/emoji.ts': { 'new RegExp(…)': 'input' },
  'lib/core/schema.ts': { 'new RegExp(…)': 'input' },
  'lib/integrations/hooks/rules-markup.ts': {
    '/(```[^`]*```|`[^`\\n]*`)/': 'linear',
    '/(^|[\\s([{>_~"\'])\\*([^*\\s]|[^*\\s][^*\\n]*[^*\\s])\\*(?![\\w*])/': 'linear',
    '/(^|[\\s([{>_*"\'])~([^~\\s]|[^~\\s][^~\\n]*[^~\\s])~(?![\\w~])/': 'linear',
  },
  'lib/receive/outages.ts': {
    '/^(08...|53...|57P0.|40001|40P01|25P0[34]|ECONN[A-Z]+|EPIPE|E[A-Z]*TIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|SQLITE_BUSY.*)$/':
      'server',
  },
  'lib/receive/verify-webhook.ts': { '/^[a-z]+_([A-Za-z0-9+/]{22,}={0,2})$/': 'operator' },
  'lib/outgoing/targets.ts': { '/^[^/]*\\/\\/[^/?]*@/': 'linear', '/\\/+$/': 'operator' },
  'lib/core/time.ts': { '/^(.{19})(?:\\.(\\d+))?(.+)$/': 'input' },
  'lib/files/ranges.ts': { '/^bytes=[ \\t]*(\\d{0,20})-(\\d{0,20})[ \\t]*$/': 'linear' },
  'lib/files/schema.ts': { 'new RegExp(…)': 'input' },
  'lib/chat/streaming/schema.ts': { 'new RegExp(…)': 'input' },
  'lib/chat/assistants/schema.ts': { 'new RegExp(…)': 'input' },
  'lib/files/sniff.ts': { '/\\0+$/': 'line' },
  'lib/http/app.ts': { '/\\{(\\w+)\\}/': 'own' },
  'lib/core/json-body.ts': {
    '/^application\\/json\\s*(?:;\\s*charset\\s*=\\s*"?([^";\\s]+)"?\\s*)?$/': 'linear',
  },
  'lib/mcp/accept.ts': { '/^q\\s*=\\s*0(\\.0*)?$/': 'linear' },
  'lib/http/request/body.ts': {
    '/^application\\/x-www-form-urlencoded\\s*(?:;\\s*charset\\s*=\\s*utf-8\\s*)?$/': 'linear',
  },
  'lib/http/request/client-address.ts': {
    '/%.*$/': 'linear',
    '/^(?:\\[([^\\]]*)\\](?::\\d{1,5})?|([\\d.]+):\\d{1,5})$/': 'linear',
  },
  'lib/http/request/malformed.ts': {
    '/^[a-z][a-z0-9+.-]*:\\/\\/[^/?#]*/': 'linear',
    '/#.*$/': 'linear',
    '/^(?:\\/[\\w-]+)+(?:\\?|$)/': 'linear',
  },
  'lib/http/request/query.ts': { '/^-?\\d+(\\.\\d+)?$/': 'linear' },
  'lib/limits/buckets.ts': { '/^([^:]*):[^:/]*\\/[^:]*:(.*)$/': 'linear' },
  'lib/live/feed/postgres-order.ts': { '/^([0-9a-z_]+)(?:-([0-9a-z_]+)-([0-9a-z]+))?$/': 'linear' },
  'lib/web/brand.ts': { '/^(\\/(?![/\\\\])\\S*|data:image\\/[\\w.+-]+[;,]\\S*)$/': 'operator' },
  'lib/web/document.ts': {
    '/\\/+$/': 'operator',
    "/^(?:\\/(?!\\.{1,2}(?:\\/|$))[\\w.~!$&'()*+,;=:@%-]+)*$/": 'linear',
  },
}

/** Packages that take apart texts of others. */
const PARSERS = /^(?!\.|node:).*(pars|csv|xml|ya?ml|toml|markdown|html|confbox)/

const SLOW_METHODS = new Set(['normalize', 'localeCompare', 'segment'])

/** What is found in the files and has no decision, and each decision on what is not found. */
function withoutBound(
  found: [file: string, found: string[]][],
  decided: Record<string, Record<string, Bound>>,
): string[] {
  return undecided(
    found.flatMap(([file, each]) => each.map((what) => `${file}: ${what}`)),
    Object.entries(decided).flatMap(([file, each]) => Object.keys(each).map((what) => `${file}: ${what}`)),
  )
}

it('knows the bound of every text that is normalised, segmented or parsed', () => {
  const found = findInSources((node) => {
    const { value } = (node.source ?? {}) as { value?: string }
    if (/^Import(Declaration|Expression)$/.test(node.type) && PARSERS.test(value ?? '')) return value
    if (node.type !== 'CallExpression') return undefined
    const { type, property } = node.callee as SourceNode & { property?: { name?: string } }
    return type === 'MemberExpression' && SLOW_METHODS.has(property?.name ?? '') ? property!.name : undefined
  })
  const inFiles = found.map(([file, names]): [string, string[]] => [file, counted(names)])
  expect(withoutBound(inFiles, CALLS)).toEqual([])
})

/**
 * Whether a pattern may take more than linear time: it has several repetitions without a bound, or one that begins anywhere
 * and after which something must follow.
 */
function mayBeSlow(pattern: string, flags: string): boolean {
  const plain = pattern.replace(/\\p\{[^}]*\}|\\./gi, 'C').replace(/\[[^\]]*\]/g, 'C')
  const repeated = [...plain.matchAll(/(?<!\()[*+]|\{\d+,\}/g)]
  const [first] = repeated
  if (!first || repeated.length > 1) return repeated.length > 1
  const behind = plain.slice(first.index + first[0].length).replace(/^[?)]+/, '')
  return behind !== '' && !plain.startsWith('^') && !flags.includes('y')
}

it('knows the bound of every text that a slow regular expression reads', () => {
  const found = findInSources((node) => {
    const { regex, callee } = node as SourceNode & {
      regex?: { pattern: string; flags: string }
      callee?: { name?: string }
    }
    if (node.type === 'NewExpression' && callee?.name === 'RegExp') return 'new RegExp(…)'
    if (node.type !== 'Literal' || !regex || !mayBeSlow(regex.pattern, regex.flags)) return undefined
    return `/${regex.pattern}/`
  })
  const isTrusted = (file: string) => Object.keys(TRUSTED).some((folder) => file.startsWith(folder))
  const untrusted = found.filter(([file]) => !isTrusted(file))
  expect(withoutBound(untrusted, PATTERNS)).toEqual([])
})

it('knows which patterns may be slow', () => {
  const slow = [/a+b/, /^a*a*$/, /(a+)+$/, /=+$/, /[^"]+"/g, /\s*\n/]
  const quick = [/a+/g, /^a+b/, /a{3}b/, /^[^@]*@/, /x(?:a|b)*/g, /a{1,64}b/]
  for (const { source, flags } of slow) expect([source, mayBeSlow(source, flags)]).toEqual([source, true])
  for (const { source, flags } of quick) expect([source, mayBeSlow(source, flags)]).toEqual([source, false])
})
