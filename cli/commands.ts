import { type CommandDef, defineCommand } from 'citty'
import { VERSION } from '../lib/core/version.ts'

/** Every command. Each is loaded when it is run or its help is shown. */
export const root: CommandDef = defineCommand({
  meta: {
    name: 'chat-server',
    version: VERSION,
    description: 'Multi-user conversations with threads and a live event stream',
  },
  subCommands: {
    serve: () => import('./commands/serve.ts').then((module) => module.default),
    setup: () => import('./commands/setup.ts').then((module) => module.default),
    reload: () => import('./commands/reload.ts').then((module) => module.default),
    migrate: () => import('./commands/migrate.ts').then((module) => module.default),
    user: () => import('./commands/user.ts').then((module) => module.default),
    access: () => import('./commands/access.ts').then((module) => module.default),
    session: () => import('./commands/session.ts').then((module) => module.default),
    key: () => import('./commands/key.ts').then((module) => module.default),
    'server-key': () => import('./commands/server-key.ts').then((module) => module.default),
    conversation: () => import('./commands/conversation.ts').then((module) => module.default),
    invite: () => import('./commands/invite.ts').then((module) => module.default),
    mail: () => import('./commands/mail.ts').then((module) => module.default),
    audit: () => import('./commands/audit.ts').then((module) => module.default),
    events: () => import('./commands/events.ts').then((module) => module.default),
    backup: () => import('./commands/backup.ts').then((module) => module.default),
    restore: () => import('./commands/restore.ts').then((module) => module.default),
    export: () => import('./commands/export.ts').then((module) => module.default),
    import: () => import('./commands/import.ts').then((module) => module.default),
    health: () => import('./commands/health.ts').then((module) => module.default),
    doctor: () => import('./commands/doctor.ts').then((module) => module.default),
    fsck: () => import('./commands/fsck.ts').then((module) => module.default),
    attachments: () => import('./commands/attachments.ts').then((module) => module.default),
    search: () => import('./commands/search.ts').then((module) => module.default),
    vacuum: () => import('./commands/vacuum.ts').then((module) => module.default),
    clock: () => import('./commands/clock.ts').then((module) => module.default),
    nodes: () => import('./commands/nodes.ts').then((module) => module.default),
    limits: () => import('./commands/limits.ts').then((module) => module.default),
    config: () => import('./commands/config.ts').then((module) => module.default),
    init: () => import('./commands/init.ts').then((module) => module.default),
    openapi: () => import('./commands/openapi.ts').then((module) => module.default),
    completion: () => import('./commands/completion.ts').then((module) => module.createCompletion(root)),
  },
})
