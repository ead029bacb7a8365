// Made from the routes by `npm run docs`: change it there. With it a browser loads neither the routes nor their schemas.
import type { Operation } from './operation.ts'

/** Every endpoint of administrators and programs, by its feature and verb. */
export const ADMIN_OPERATIONS = {
  audit: {
    list: 'GET /api/admin/audit query',
  },
  feedback: {
    list: 'GET /api/admin/feedback query',
  },
  keys: {
    listAll: 'GET /api/admin/keys query',
    revokeAny: 'DELETE /api/admin/keys/{key_id}',
  },
  limits: {
    createAssignment: 'POST /api/admin/limits/assignments body',
    createProfile: 'POST /api/admin/limits/profiles body',
    deleteAssignment: 'DELETE /api/admin/limits/assignments/{id}',
    deleteProfile: 'DELETE /api/admin/limits/profiles/{id}',
    listAssignments: 'GET /api/admin/limits/assignments',
    listProfiles: 'GET /api/admin/limits/profiles query',
    reset: 'POST /api/admin/limits/reset body',
    status: 'GET /api/admin/limits/status query',
    updateProfile: 'PUT /api/admin/limits/profiles/{id} body',
  },
  newcomers: {
    invite: 'POST /api/admin/invites body',
    list: 'GET /api/admin/invites query',
    revoke: 'DELETE /api/admin/invites/{invite_id}',
  },
  nodes: {
    list: 'GET /api/admin/nodes',
  },
  openai: {
    complete: 'POST /v1/chat/completions body read',
    listModels: 'GET /v1/models',
  },
  ops: {
    health: 'GET /healthz',
    metrics: 'GET /metrics text',
    readiness: 'GET /readyz',
  },
  runs: {
    capabilities: 'GET /api/ag-ui/capabilities',
    stop: 'POST /api/ag-ui/stop body',
  },
  tasks: {
    list: 'GET /api/admin/tasks query',
  },
  uiChats: {
    get: 'GET /api/ui/chat/{chat_id} query',
    list: 'GET /api/ui/chats query',
    stop: 'POST /api/ui/chat/{chat_id}/stop body optional',
  },
  usage: {
    clearQuota: 'DELETE /api/admin/users/{user_id}/quota',
    getQuota: 'GET /api/admin/users/{user_id}/quota',
    list: 'GET /api/admin/attachments query',
    report: 'GET /api/admin/usage query',
    reportCsv: 'GET /api/admin/usage.csv query text',
    setQuota: 'PUT /api/admin/users/{user_id}/quota body',
  },
  users: {
    change: 'PATCH /api/admin/users/{user_id} body',
    create: 'POST /api/admin/users body',
    describe: 'GET /api/admin/users/{user_id}',
    endBySubject: 'POST /api/admin/users/by-subject/{subject}/end-sessions',
    endSession: 'DELETE /api/admin/users/{user_id}/sessions/{session_id}',
    endSessions: 'DELETE /api/admin/users/{user_id}/sessions',
    ensure: 'PUT /api/admin/users/by-subject/{subject} body',
    erase: 'DELETE /api/admin/users/{user_id} query',
    eraseBySubject: 'DELETE /api/admin/users/by-subject/{subject} query',
    findBySubject: 'GET /api/admin/users/by-subject/{subject}',
    issueReset: 'POST /api/admin/users/{user_id}/reset-link',
    list: 'GET /api/admin/users query',
    listSessions: 'GET /api/admin/users/{user_id}/sessions query',
    lockDown: 'POST /api/admin/users/{user_id}/lockdown',
    merge: 'POST /api/admin/users/merge body',
    removeAvatar: 'DELETE /api/admin/users/{user_id}/avatar',
    unlock: 'POST /api/admin/users/{user_id}/unlock',
  },
  webhooks: {
    changeAny: 'PATCH /api/admin/webhooks/{webhook_id} body',
    listAll: 'GET /api/admin/webhooks query',
  },
  wellKnown: {
    get: 'GET /.well-known/{path} text rest',
  },
} as const satisfies Record<string, Record<string, Operation>>
