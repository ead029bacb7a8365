import type { Config } from '../config/parse.ts'
import type { BodyLimits } from '../core/json-body.ts'
import { type FailureShape, OPENAI, PROBLEM } from './response/error-shapes.ts'

/** The properties that all calls under a path prefix share, including those for unknown paths. */
export interface ApiGroup {
  /** Empty for all paths under no other prefix. */
  prefix: string
  /** If false, every call of the group responds like one to an unknown path. */
  isServed?: (config: Config) => boolean
  body: BodyLimits
  /** The body of a call with a credential of the service. Default: the same. */
  body_with_token?: BodyLimits
  failure: FailureShape
  /** The headers of every response besides the common ones. */
  headers: [name: string, value: string][]
}

const REST: ApiGroup = {
  prefix: '',
  body: { bytes: 512 * 1024, entries: 1_000 },
  failure: PROBLEM,
  headers: [],
}

const API: ApiGroup = {
  ...REST,
  prefix: '/api',
  isServed: ({ features }) => features.auth_v1,
  headers: [['cache-control', 'no-store']],
}

/** Clients of the AI SDK and of AG-UI send all messages that they show. */
const WHOLE_HISTORY: BodyLimits = { bytes: 2 * 1024 * 1024, entries: 100_000 }

/** Long histories, and the tools that SDKs describe at length, have many more entries than other calls. */
const LONG_HISTORY: BodyLimits = { bytes: 512 * 1024, entries: 10_000 }

const OF_OPENAI: ApiGroup = {
  ...REST,
  prefix: '/v1',
  isServed: ({ features }) => features.openai_api,
  body: LONG_HISTORY,
  failure: OPENAI,
}

/** All API groups, the most specific first. */
export const API_GROUPS: readonly ApiGroup[] = [
  {
    ...API,
    prefix: '/api/admin/limits',
    isServed: ({ features, rate_limits }) => features.auth_v1 && rate_limits.admin_api_enabled,
  },
  {
    ...API,
    prefix: '/api/ui',
    isServed: ({ features }) => features.auth_v1 && features.ui_stream,
    body: WHOLE_HISTORY,
  },
  {
    ...API,
    prefix: '/api/ag-ui',
    isServed: ({ features }) => features.auth_v1 && features.ag_ui,
    body: WHOLE_HISTORY,
  },
  API,
  { ...REST, prefix: '/.well-known', isServed: ({ features }) => features.well_known },
  { ...OF_OPENAI, prefix: '/v1/responses' },
  { ...OF_OPENAI, prefix: '/v1/conversations' },
  {
    ...OF_OPENAI,
    prefix: '/v1',
    isServed: ({ features }) => features.openai_compat || features.openai_api,
    body: { ...LONG_HISTORY, bytes: 64 * 1024 },
    body_with_token: LONG_HISTORY,
  },
  REST,
]

/** The API group of a path, or of a path template. */
export function apiGroupOf(path: string): ApiGroup {
  return STARTS.find(([start]) => `${path}/`.startsWith(start))?.[1] ?? REST
}

const STARTS = API_GROUPS.map((group): [start: string, group: ApiGroup] => [`${group.prefix}/`, group])
