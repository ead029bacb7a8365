// Made from the use-cases, routes and schemas by `npm run docs`: change it there.

import type { AuditAdminClient } from './audit.ts'
import type { KeysAdminClient } from './keys.ts'
import type { LimitsAdminClient } from './limits.ts'
import type { NewcomersAdminClient } from './newcomers.ts'
import type { NodesAdminClient } from './nodes.ts'
import type { OpenaiAdminClient } from './openai.ts'
import type { OpsAdminClient } from './ops.ts'
import type { TasksAdminClient } from './tasks.ts'
import type { UsageAdminClient } from './usage.ts'
import type { UsersAdminClient } from './users.ts'
import type { WellKnownAdminClient } from './well-known.ts'

/** The endpoints of administrators and of programs, in the same form. */
export interface AdminFeatures {
  users: UsersAdminClient
  audit: AuditAdminClient
  tasks: TasksAdminClient
  nodes: NodesAdminClient
  newcomers: NewcomersAdminClient
  keys: KeysAdminClient
  limits: LimitsAdminClient
  usage: UsageAdminClient
  ops: OpsAdminClient
  wellKnown: WellKnownAdminClient
  openai: OpenaiAdminClient
}
