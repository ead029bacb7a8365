// Made from the routes by `npm run docs`: change it there. With it a browser loads neither the routes nor their schemas.
import type { Operation } from './operation.ts'

/** Every endpoint of administrators and programs, by its feature and verb. */
export const ADMIN_OPERATIONS = {
  audit: {
    list: { method: 'GET', path: '/api/admin/audit', input: 'query', is_read: true },
  },
  keys: {
    listAll: { method: 'GET', path: '/api/admin/keys', input: 'query', is_read: true },
    revokeAny: { method: 'DELETE', path: '/api/admin/keys/{key_id}' },
  },
  limits: {
    createAssignment: { method: 'POST', path: '/api/admin/limits/assignments', input: 'body' },
    createProfile: { method: 'POST', path: '/api/admin/limits/profiles', input: 'body' },
    deleteAssignment: { method: 'DELETE', path: '/api/admin/limits/assignments/{id}' },
    deleteProfile: { method: 'DELETE', path: '/api/admin/limits/profiles/{id}' },
    listAssignments: { method: 'GET', path: '/api/admin/limits/assignments', is_read: true },
    listProfiles: { method: 'GET', path: '/api/admin/limits/profiles', input: 'query', is_read: true },
    reset: { method: 'POST', path: '/api/admin/limits/reset', input: 'body' },
    status: { method: 'GET', path: '/api/admin/limits/status', input: 'query', is_read: true },
    updateProfile: { method: 'PUT', path: '/api/admin/limits/profiles/{id}', input: 'body' },
  },
  newcomers: {
    invite: { method: 'POST', path: '/api/admin/invites', input: 'body' },
    list: { method: 'GET', path: '/api/admin/invites', input: 'query', is_read: true },
    revoke: { method: 'DELETE', path: '/api/admin/invites/{invite_id}' },
  },
  nodes: {
    list: { method: 'GET', path: '/api/admin/nodes', is_read: true },
  },
  openai: {
    complete: { method: 'POST', path: '/v1/chat/completions', input: 'body', is_read: true },
    listModels: { method: 'GET', path: '/v1/models', is_read: true },
  },
  ops: {
    health: { method: 'GET', path: '/healthz', is_read: true },
    metrics: { method: 'GET', path: '/metrics', answer: 'text', is_read: true },
    readiness: { method: 'GET', path: '/readyz', is_read: true },
  },
  tasks: {
    list: { method: 'GET', path: '/api/admin/tasks', input: 'query', is_read: true },
  },
  usage: {
    list: { method: 'GET', path: '/api/admin/attachments', input: 'query', is_read: true },
  },
  users: {
    change: { method: 'PATCH', path: '/api/admin/users/{user_id}', input: 'body' },
    create: { method: 'POST', path: '/api/admin/users', input: 'body' },
    describe: { method: 'GET', path: '/api/admin/users/{user_id}', is_read: true },
    endSession: { method: 'DELETE', path: '/api/admin/users/{user_id}/sessions/{session_id}' },
    endSessions: { method: 'DELETE', path: '/api/admin/users/{user_id}/sessions' },
    erase: { method: 'DELETE', path: '/api/admin/users/{user_id}', input: 'query' },
    issueReset: { method: 'POST', path: '/api/admin/users/{user_id}/reset-link' },
    list: { method: 'GET', path: '/api/admin/users', input: 'query', is_read: true },
    listSessions: { method: 'GET', path: '/api/admin/users/{user_id}/sessions', input: 'query', is_read: true },
    lockDown: { method: 'POST', path: '/api/admin/users/{user_id}/lockdown' },
    unlock: { method: 'POST', path: '/api/admin/users/{user_id}/unlock' },
  },
  wellKnown: {
    get: { method: 'GET', path: '/.well-known/{path}', answer: 'text', is_read: true, takes_rest: true },
  },
} as const satisfies Record<string, Record<string, Operation>>
