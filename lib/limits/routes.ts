import * as v from 'valibot'
import { route } from '../http/route.ts'
import { LimitAssignment, LimitProfile, LimitProfileChange, NewLimitAssignment, NewLimitProfile } from './schema.ts'

export const listLimitProfiles = route({
  method: 'GET',
  path: '/api/admin/limits/profiles',
  tag: 'Administration',
  summary: 'List the profiles of rate limits, by name',
  access: 'admin',
  output: v.array(LimitProfile),
  handler: ({ chat, actor }) => chat.limits.listProfiles(actor),
})

export const createLimitProfile = route({
  method: 'POST',
  path: '/api/admin/limits/profiles',
  tag: 'Administration',
  summary: 'Make a profile; it limits nothing until it is assigned',
  access: 'admin',
  body: NewLimitProfile,
  status: 201,
  output: LimitProfile,
  errors: ['conflict'],
  handler: ({ chat, actor, body }) => chat.limits.createProfile(actor, body),
})

export const updateLimitProfile = route({
  method: 'PUT',
  path: '/api/admin/limits/profiles/{id}',
  tag: 'Administration',
  summary: 'Change the parameters and the description of a profile',
  access: 'admin',
  body: LimitProfileChange,
  output: LimitProfile,
  errors: ['not_found'],
  handler: ({ chat, actor, params, body }) => chat.limits.updateProfile(actor, params.id, body),
})

export const deleteLimitProfile = route({
  method: 'DELETE',
  path: '/api/admin/limits/profiles/{id}',
  tag: 'Administration',
  summary: 'Delete a profile that is assigned to no route',
  access: 'admin',
  status: 204,
  errors: ['not_found', 'profile_in_use'],
  handler: ({ chat, actor, params }) => chat.limits.deleteProfile(actor, params.id),
})

export const listLimitAssignments = route({
  method: 'GET',
  path: '/api/admin/limits/assignments',
  tag: 'Administration',
  summary: 'List which routes have which profile',
  access: 'admin',
  output: v.array(LimitAssignment),
  handler: ({ chat, actor }) => chat.limits.listAssignments(actor),
})

export const createLimitAssignment = route({
  method: 'POST',
  path: '/api/admin/limits/assignments',
  tag: 'Administration',
  summary: 'Assign a profile to a route, or to all that begin alike',
  access: 'admin',
  body: NewLimitAssignment,
  status: 201,
  output: LimitAssignment,
  errors: ['not_found', 'conflict'],
  handler: ({ chat, actor, endpoints, body }) => chat.limits.createAssignment(actor, endpoints, body),
})

export const deleteLimitAssignment = route({
  method: 'DELETE',
  path: '/api/admin/limits/assignments/{id}',
  tag: 'Administration',
  summary: 'Take a profile off a route',
  access: 'admin',
  status: 204,
  errors: ['not_found'],
  handler: ({ chat, actor, params }) => chat.limits.deleteAssignment(actor, params.id),
})
