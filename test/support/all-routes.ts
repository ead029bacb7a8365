import { openApiRoutes } from '../../lib/http/openapi.ts'
import type { AnyRoute } from '../../lib/endpoint.ts'
import { routes } from '../../lib/endpoints.ts'

/** Every route, those of the OpenAPI document included. */
export const allRoutes: [name: string, route: AnyRoute][] = Object.entries<AnyRoute>({ ...routes, ...openApiRoutes })
