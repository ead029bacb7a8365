import type { Config } from '../config/parse.ts'
import type { BodyLimits } from './body.ts'
import { type FailureShape, OPENAI, PROBLEM } from './failure.ts'

/** What all calls under a path have in common, those that no route answers included. */
export interface Surface {
  /** Empty for whatever is under no other. */
  prefix: string
  /** Without it, all of the surface is as if it had never been there. */
  isServed?: (config: Config) => boolean
  body: BodyLimits
  failure: FailureShape
  /** What every answer carries besides the common headers. */
  headers: [name: string, value: string][]
}

const REST: Surface = {
  prefix: '',
  body: { bytes: 512 * 1024, entries: 1_000 },
  failure: PROBLEM,
  headers: [],
}

const API: Surface = {
  ...REST,
  prefix: '/api',
  isServed: ({ features }) => features.auth_v1,
  headers: [['cache-control', 'no-store']],
}

/** Every surface, the most particular first. */
export const SURFACES: readonly Surface[] = [
  {
    ...API,
    prefix: '/api/admin/limits',
    isServed: ({ features, rate_limits }) => features.auth_v1 && rate_limits.admin_api_enabled,
  },
  API,
  { ...REST, prefix: '/.well-known', isServed: ({ features }) => features.well_known },
  // Long histories, and the tools that SDKs describe at length, have many more entries than a call of ours.
  {
    ...REST,
    prefix: '/v1',
    isServed: ({ features }) => features.openai_compat,
    body: { bytes: 64 * 1024, entries: 10_000 },
    failure: OPENAI,
  },
  REST,
]

/** The surface that a path, or the template of one, is part of. */
export function surfaceOf(path: string): Surface {
  return SURFACES.find(({ prefix }) => path.startsWith(`${prefix}/`)) ?? REST
}
