import * as v from 'valibot'
import { MAX_LENGTH } from '../core/lengths.ts'
import { AccessSection } from './access.ts'
import {
  ASSISTANT_KEYS,
  AssistantsSection,
  apiKey,
  assistantName,
  assistantProvider,
  headerList,
} from './assistants.ts'
import { AttachmentsSection } from './attachments.ts'
import { AuthSection } from './auth.ts'
import { BackupSection } from './backup.ts'
import { BotsSection } from './bots.ts'
import { ClusterSection } from './cluster.ts'
import { GuestsSection } from './guests.ts'
import { HooksSection } from './hooks.ts'
import { flag, integer, key, MAX_TIMER_SECONDS, oneOf, reloadableKey, section, someText, text } from './key.ts'
import { LimitsSection, NotificationsSection } from './limits.ts'
import { LinksSection } from './links.ts'
import { MailSection } from './mail.ts'
import { McpSection } from './mcp.ts'
import { MetricsSection } from './metrics.ts'
import { OauthSection } from './oauth.ts'
import { OutgoingSection } from './outgoing.ts'
import { AvatarsSection, ConversationsSection, DirectSection, ReceiptsSection, SearchSection } from './people.ts'
import { isDatabaseUrl, prefixName, schemaName } from './placement.ts'
import { SecuritySection, token } from './security.ts'
import { publicUrl, ServerSection } from './server.ts'
import { ToolsSection } from './tools.ts'
import { PRICES, UsageSection } from './usage.ts'
import { WebhooksSection } from './webhooks.ts'
import { WellKnownSection } from './well-known.ts'

/** `sqlite://name` reads like a host but would be the path `//name`, so it is refused. */
const DATABASE_URL = /^(sqlite:(?!\/\/[^/]|\s).*\S|postgres(ql)?:\/\/\S+)$/

/** Browsers delete a cookie after 400 days, whatever its Max-Age (RFC 6265bis). */
const MAX_SESSION_SECONDS = 400 * 24 * 60 * 60

const MAX_INVITE_USES = 100_000

const databaseUrl = v.pipe(
  text,
  v.regex(DATABASE_URL, 'must be sqlite:<path>, sqlite::memory: or postgres://<user>:<password>@<host>/<name>'),
  v.check(
    isDatabaseUrl,
    'must be a postgres:// address; in a user or password, characters such as @ : / ? # % are written %40 and so on',
  ),
)
// PostgreSQL replaces other characters, and cuts longer names.
const applicationName = v.pipe(text, v.regex(/^[ -~]{1,63}$/, 'must have 1 to 63 ASCII characters'))

/** Every configuration key with its type, default and reason. Names and nesting are those of the file. */
export const ConfigSchema = v.object({
  prices: PRICES,
  server: ServerSection,
  database: section({
    url: key(
      databaseUrl,
      'sqlite:./data/chat.db',
      'URL of the database: SQLite or PostgreSQL. A reload takes another user and password, and nothing else.',
      { secret: 'password', reload: 'credentials' },
    ),
    schema: key(
      schemaName,
      '',
      'PostgreSQL: the schema of the tables, created if missing; empty for the first one of the search_path.',
    ),
    prefix: key(
      prefixName,
      '',
      'What the names of tables and indexes begin with, such as chat_, in a database with tables of other programs.',
    ),
    pool_size: key(integer(2, 1000), 10, 'PostgreSQL: the maximum number of connections of one process.'),
    application_name: key(
      applicationName,
      'chat-server',
      'PostgreSQL: the name of the connections in pg_stat_activity and in its log.',
    ),
    prepared_statements: key(
      flag,
      true,
      'PostgreSQL: prepare each statement once per connection; false for a pooler that cannot do that. PgBouncer is detected.',
    ),
  }),
  storage: section({
    durability: key(
      oneOf('full', 'os'),
      'full',
      'full: a write is acknowledged after it is synced to disk. os: after the operating system has it, which is faster, but a power cut may lose the last writes.',
    ),
    migrate: key(flag, true, 'Bring the database up to date at start; if false, an outdated database is refused.'),
    backup_before_migrate: key(
      flag,
      true,
      'SQLite: serve and migrate copy the file beside it before they migrate a database with data; the last two copies are kept for 7 days.',
    ),
  }),
  backup: BackupSection,
  cluster: ClusterSection,
  features: section({
    auth_v1: key(flag, true, 'Serve /api; if false, its calls are 404.'),
    well_known: key(flag, false, 'Serve the documents of well_known.entries; if false, they are 404.'),
    mcp: key(
      flag,
      true,
      'Serve /mcp, by which agents use the chat (Model Context Protocol); if false, its calls are 404.',
    ),
    ui_stream: key(
      flag,
      true,
      "Serve answers and chats in the format of the AI SDK's `useChat`, under `/api/ui`; if false, its calls are 404.",
    ),
    openai_compat: key(flag, true, 'Serve /v1, an echo for OpenAI clients; if false, its calls are 404.'),
    openai_api: key(flag, false, 'Serve the assistants under /v1 to OpenAI clients that have a credential.'),
    ag_ui: key(flag, false, 'Serve /api/ag-ui, for clients of AG-UI; if false, its calls are 404.'),
  }),
  rate_limits: section({
    admin_api_enabled: key(flag, false, 'Serve the API that changes limits while the service runs.'),
    default_rps: reloadableKey(
      integer(0, 1_000_000),
      500,
      'Requests per second of one user, or one IP address, on routes without a profile; 0 sets no limit.',
    ),
    burst: reloadableKey(integer(1, 1_000_000), 1000, 'Number of those requests that may arrive at once.'),
    auth_login_per_ip_per_min: reloadableKey(
      integer(1, 1_000_000),
      60,
      'Sign-ins, sign-ups, set-ups and password resets per minute from one IP address.',
    ),
    auth_failures_per_ip_per_min: reloadableKey(
      integer(1, 1_000_000),
      600,
      'Requests per minute from one IP address that may fail with 401; beyond that, tokens are not looked up.',
    ),
  }),
  session: section({
    idle_seconds: key(integer(1, MAX_SESSION_SECONDS), 28_800, 'A session unused for longer ends.', {
      unit: 'seconds',
    }),
    absolute_seconds: key(integer(1, MAX_SESSION_SECONDS), 604_800, 'A session older than this ends, used or not.', {
      unit: 'seconds',
    }),
    session_cookie_name: key(token, 'SESSION_ID', 'Name of the session cookie.'),
    csrf_cookie_name: key(token, 'CSRF-TOKEN', 'Alias of security.csrf.cookie_name: set only one of the two.'),
    max_sessions_per_user: key(
      v.union([integer(1, 100_000), v.literal(false)], 'must be a whole number from 1 to 100000, or false'),
      5,
      'Sessions per user; a further sign-in ends the oldest one; false sets no limit.',
    ),
  }),
  security: SecuritySection,
  setup: section({
    code: reloadableKey(
      someText,
      undefined,
      'Code that POST /api/setup requires as setup_code; by default none is required.',
      { secret: true },
    ),
  }),
  invites: section({
    allow_signup: key(flag, true, 'Allow new users to sign up with an invite.'),
    signup_by: key(
      oneOf('admins', 'owners', 'operators'),
      'admins',
      'Whose invites allow a sign-up: admins and owners of the conversation, its owners only, or only operators (administrators of the service and the command line). Invites of operators always do.',
    ),
    max_uses: key(integer(1, MAX_INVITE_USES), 100, 'Maximum number of uses of an invite.'),
    signup_max_uses: key(
      integer(0, MAX_INVITE_USES),
      25,
      'Maximum number of accounts that one invite creates; further sign-ups are refused, even if uses are left.',
    ),
  }),
  auth: AuthSection,
  access: AccessSection,
  guests: GuestsSection,
  bots: BotsSection,
  hooks: HooksSection,
  webhooks: WebhooksSection,
  oauth: OauthSection,
  outgoing: OutgoingSection,
  mail: MailSection,
  mcp: McpSection,
  links: LinksSection,
  sse: section({
    heartbeat_seconds: key(
      integer(1, MAX_TIMER_SECONDS),
      20,
      'Interval of the comments that keep an idle stream open. Keep it below the idle timeout of your proxy.',
      { unit: 'seconds' },
    ),
    max_buffer_bytes: key(
      integer(1024, 1024 ** 3),
      1_048_576,
      'How far a reader may fall behind before its stream is closed; it then resumes by id.',
      { unit: 'bytes' },
    ),
    replay_retention_hours: key(
      integer(1, 100_000),
      48,
      'How long events are stored for replay; a reader that was away for longer gets stream.reset.',
      { unit: 'hours' },
    ),
    max_streams_per_user: key(integer(1, 100_000), 20, 'Maximum number of open streams per user.'),
  }),
  presence: section({
    broadcast_participants: key(
      integer(0, 10_000),
      200,
      'Conversations with more participants get no presence.update; clients ask GET /api/presence.',
    ),
  }),
  conversations: ConversationsSection,
  direct: DirectSection,
  receipts: ReceiptsSection,
  search: SearchSection,
  attachments: AttachmentsSection,
  avatars: AvatarsSection,
  notifications: NotificationsSection,
  limits: LimitsSection,
  assistant: section({
    name: key(assistantName, 'Assistant', 'Name of the assistant in pages.'),
    label: key(assistantName, 'AI', 'What pages and mails say at generated text.'),
    notice: key(someText, undefined, 'What pages say before the first question of a user.'),
    provider: key(
      assistantProvider,
      undefined,
      'Provider of the answers: none refuses questions, echo repeats the question, openai is any server with the API of OpenAI. Default: echo, which pages do not offer unless it is set here.',
    ),
    base_url: key(publicUrl, undefined, 'URL of the model server, up to /v1; default: https://api.openai.com/v1.'),
    api_key: key(apiKey, undefined, 'Bearer token for the model server; many local servers need none.', {
      secret: true,
    }),
    model: key(someText, undefined, 'Name of the model on its server. Required for openai.'),
    system_prompt: key(someText, undefined, 'Instructions for the model, sent before the thread.'),
    images: key(
      flag,
      false,
      'Whether a model of openai gets the pictures of the thread: the newest 8, up to 8 MiB together. Otherwise it gets the names of files only.',
    ),
    headers: key(headerList, [] as string[], 'Additional headers for the model server, each as "Name: value".', {
      secret: 'header',
    }),
    timeout_seconds: key(integer(1, MAX_TIMER_SECONDS), 120, 'A step of an answer that takes longer fails.', {
      unit: 'seconds',
    }),
    drain_seconds: key(integer(0, 3600), 5, 'Time that answers have to finish when the service stops.', {
      unit: 'seconds',
    }),
    context_bytes: key(
      integer(1, MAX_LENGTH.answer),
      65_536,
      'Maximum size of the thread sent to the assistant; the oldest messages are left out, the question is always sent.',
      { unit: 'bytes' },
    ),
    max_running_per_user: key(integer(1, 100_000), 3, 'Concurrent answers per user, in all processes; 429 beyond.'),
    max_running: key(integer(1, 100_000), 100, 'Concurrent answers, in all processes; 503 beyond.'),
    answer_bytes: key(
      integer(1, MAX_LENGTH.answer),
      262_144,
      'Maximum length of an answer, in UTF-8; a longer one fails.',
      { unit: 'bytes' },
    ),
    ...ASSISTANT_KEYS,
  }),
  assistants: AssistantsSection,
  tools: ToolsSection,
  usage: UsageSection,
  audit: section({
    retention_days: key(
      v.union([integer(1, 36_500), v.literal(false)], 'must be a whole number from 1 to 36500, or false'),
      365,
      'How long entries of the audit log are kept; false keeps them forever.',
      { unit: 'days' },
    ),
  }),
  metrics: MetricsSection,
  well_known: WellKnownSection,
  log: section({
    level: reloadableKey(oneOf('silent', 'error', 'warn', 'info', 'debug'), 'info', 'Lowest level to log.'),
    format: key(
      oneOf('auto', 'json', 'pretty'),
      'auto',
      'json is one object a line, pretty is for people; auto is pretty on a terminal and json elsewhere.',
    ),
    requests: reloadableKey(
      oneOf('all', 'problems', 'none'),
      'problems',
      'Requests to log: all; problems, those answered with 5xx or after more than a second; or none.',
    ),
  }),
})
