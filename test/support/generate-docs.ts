import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { variableName } from '../../cli/config/environment.ts'
import { keysBySection } from '../../cli/config/template.ts'
import type { ConfigKey } from '../../lib/config/reference.ts'
import { auditPage } from './audit-page.ts'
import { cliPage } from './cli-page.ts'
import { adminOperations, clientOperations } from './client-operations.ts'
import { errorsPage } from './errors-page.ts'
import { eventsPage } from './events-page.ts'
import { httpPage } from './http-page.ts'
import { keysPage } from './keys-page.ts'
import { libraryPage } from './library-page.ts'

/** Every generated page and table: its path from the root of the project, and its text. */
const PAGES: Record<string, () => string | Promise<string>> = {
  'docs/reference/configuration.md': configurationPage,
  'docs/reference/events.md': eventsPage,
  'docs/reference/audit.md': auditPage,
  'docs/reference/cli.md': cliPage,
  'docs/reference/keys.md': keysPage,
  'docs/reference/http-api.md': httpPage,
  'docs/reference/errors.md': errorsPage,
  'lib/client/operations.ts': clientOperations,
  'lib/client/admin-operations.ts': adminOperations,
}

/** The same as texts, with the page of the library, which is made from `lib/api` as it is built. */
export async function generated(): Promise<Record<string, string>> {
  const pages = Object.entries(PAGES).map(async ([path, page]) => [path, await page()])
  const made: Record<string, string> = Object.fromEntries(await Promise.all(pages))
  return { ...made, 'docs/reference/library.md': libraryPage(made['docs/reference/http-api.md']!) }
}

const CONFIGURATION = `<!-- Made from lib/config/schema.ts by test/support/generate-docs.ts: change it there. -->

# Configuration

Nothing has to be configured: every key has a default that works on one machine.

Where several places set a key, the later one of these wins:

1. the default below;
2. the file: \`--config <file>\`, else the one that \`CHAT_CONFIG\` names, else \`chat-server.toml\` in the current folder
   if there is one. TOML, JSON and YAML are told apart by the end of the name;
3. [credentials of systemd](#secrets-from-files), for secrets;
4. the environment: \`CHAT_\` and the key in capitals, with two underscores between its parts;
5. the flags \`--host\`, \`--port\`, \`--socket\`, \`--workers\`, \`--no-web\` and \`--database\`.

These four are the same:

\`\`\`toml
# chat-server.toml
[server]
port = 9000
\`\`\`

\`\`\`yaml
# chat-server.yaml
server:
  port: 9000
\`\`\`

\`\`\`sh
CHAT_SERVER__PORT=9000 chat-server serve
chat-server serve --port 9000
\`\`\`

With an unknown key, a value of the wrong type or contradictory values, the service does not start. It exits with code 2 and
prints the key and its source. An empty variable counts as set. In the environment, lists are separated by commas, and a
table is JSON.

## Secrets from files

A key that holds a secret (\`masked when printed\` below) can also be read from a file, so that it is neither in the environment
nor in the configuration file. This includes \`database.url\`, \`mail.smtp.url\` and \`assistant.headers\`, which are masked in part:

- \`CHAT_METRICS__TOKEN_FILE=/run/secrets/metrics-token\` in the environment,
- \`token_file = "/run/secrets/metrics-token"\` in the section \`[metrics]\` of the file,
- a [credential of systemd](https://systemd.io/CREDENTIALS/) with the name of the key:
  \`LoadCredential=metrics.token:/etc/chat-server/metrics-token\`. Only the service gets it: a command that you run
  yourself does not.

The file has the value and nothing else, in UTF-8, at most 64 KiB; a line end at its end does not count. A list has an item on each
line. Environment variables win over credentials, and these over the configuration file; a value and its file in the same place
are an error. \`doctor\` warns of a file that every user can read. A [reload](../guides/stopping.md#reload-the-configuration)
reads the files again.

## Write and check

\`chat-server config init\` writes a file with every key, \`config check\` validates the configuration, and \`config print\`
shows the configuration in effect. Printed secrets are masked.

Each [sign-in provider](../guides/sign-in-with.md) has a section under \`oauth\`, with any name of lower-case letters,
digits, \`_\` and \`-\`: \`[oauth.github]\` in a file, \`CHAT_OAUTH__GITHUB__CLIENT_ID\` in the
environment. Below, the name is \`<provider>\`. In the same way each [assistant](../guides/several-assistants.md) beside the
default has a section under \`assistants\`, with its key as the name: below, \`<assistant>\`. Each
[tool](../guides/tools.md#tools-of-a-server) that is called over HTTP has one under \`tools\`: below, \`<tool>\`.

As a library, \`parseConfig({ server: { port: 9000 } })\` takes the same keys. It reads no file and no environment variable.
`

const CONTRADICTIONS = `## Combinations that are refused

- \`server.headers_timeout_seconds\` above \`server.request_timeout_seconds\`.
- \`server.base_path\` other than the path of \`server.public_url\`, if that has one.
- \`server.socket\` with \`cluster.workers\` above 1.
- \`cluster.workers\` above 1 with SQLite (the command line only).
- \`cluster.dead_seconds\` below twice \`cluster.beat_seconds\`.
- \`database.schema\` with SQLite.
- \`session.idle_seconds\` above \`session.absolute_seconds\`.
- \`backup.schedule\` without \`backup.target\`.
- \`backup.passphrase\` with \`backup.recipient\`.
- One of \`mail.smtp.url\` and \`mail.smtp.from\` without the other.
- One name for both cookies, or a name that another cookie of the service has (\`<name of the session cookie>-DEVICE\`,
  \`OAUTH_BINDING\`).
- Two different values for \`session.csrf_cookie_name\` and \`security.csrf.cookie_name\`, which set the same cookie.
- \`security.cookie.same_site = "none"\` without \`security.cookie.secure\`: browsers drop such a cookie.
- A cookie name that begins with \`__Host-\`, \`__Secure-\` or \`__Http-\` without \`security.cookie.secure\`, or with
  \`__Host-\` and a \`security.cookie.domain\`; a name of the CSRF cookie, which scripts read, that begins with \`__Http-\`
  or \`__Host-Http-\`.
- A quota of \`usage.quotas\` of a role that is none, of nothing, of the role and the period of another one, or with
  \`cost_micros\` where \`prices\` lacks the model of an assistant.
- \`assistant.provider = "openai"\` without \`assistant.model\`, and the same for one of \`assistants\`; one of those whose
  provider is \`none\`; more than 32 of them; roles in \`who\` that the service does not have.
- A provider of \`oauth\` with one of \`client_id\` and \`client_secret\`; and with both, one that has neither an \`issuer\`
  nor all of \`authorization_url\`, \`token_url\` and \`userinfo_url\`, unless its name is \`github\` or \`google\`; one with
  neither a \`redirect_uri\` nor a \`server.public_url\`; one with an \`issuer\` whose \`scope\` lacks \`openid\`.

These cause a warning at start, which \`serve --strict\` and \`config check --strict\` treat as an error: a \`server.host\` that other
machines can reach without \`security.cookie.secure\`, a \`server.public_url\` that is \`https\` without it, or \`http\` on
another machine than this, \`server.trusted_proxies\` with every address in it, \`security.csrf.enabled = false\`, \`http\` origins of other machines in
\`server.cors.allowed_origins\`, a \`security.password.bcrypt_cost\` below 10, documents in \`well_known.entries\` without
\`features.well_known\`, a variable that begins with \`CHAT_\` and has no two underscores, a password in
\`--database\`, and for \`serve\` a service that is not set up yet on an address that other machines can reach.
`

function configurationPage(): string {
  const sections = [...keysBySection()].map(
    ([section, keys]) => `## ${section ? `\`${section}\`` : 'Keys of no section'}\n\n${keys.map(entry).join('\n')}`,
  )
  return [CONFIGURATION, ...sections, CONTRADICTIONS].join('\n')
}

function entry(described: ConfigKey): string {
  const { key, choices, default: fallback, unit, description, secret, reload } = described
  const values = choices ? choices.map((choice) => `\`${choice}\``).join(', ') : typeOf(described)
  const facts = [
    unit ? `${values}, in ${unit}` : values,
    fallback === undefined ? 'no default' : `default \`${JSON.stringify(fallback)}\``,
    `\`${variableName(key)}\``,
    reload === 'credentials' ? 'user and password are reloadable' : reload ? 'reloadable' : 'needs a restart',
    ...(secret === true ? ['masked when printed'] : []),
    ...(secret === 'password' ? ['its password is masked when printed'] : []),
    ...(secret === 'header' ? ['all but its name is masked when printed'] : []),
  ]
  return `**\`${key}\`** — ${description}\n\n${facts.map((fact) => `- ${fact}\n`).join('')}`
}

/** What the bounds of a type count. */
const UNITS: Partial<Record<ConfigKey['type'], string>> = { list: 'items', table: 'entries' }

/** The type, with the values that are allowed. */
function typeOf({ type, min, max }: ConfigKey): string {
  const highest = max === Number.MAX_SAFE_INTEGER ? undefined : max
  if (type === 'integer' || type === 'integer or false')
    return type.replace('integer', highest === undefined ? `integer, at least ${min}` : `integer from ${min} to ${max}`)
  // Almost no text may be empty.
  const least = min === 1 ? undefined : min
  if (least === undefined && highest === undefined) return type
  const count = least === undefined ? `at most ${max}` : `${least} to ${max}`
  if (type === 'list of integers') return `list of ${count} integers`
  return `${type} of ${count} ${UNITS[type] ?? 'characters'}`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [path, text] of Object.entries(await generated())) {
    writeFileSync(new URL(`../../${path}`, import.meta.url), text)
    console.log(path)
  }
}
