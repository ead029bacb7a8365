import type { AnyRoute } from '../../lib/endpoint.ts'
import { routes } from '../../lib/endpoints.ts'
import { openApiRoutes } from '../../lib/http/openapi/build.ts'

/** Every route, those of the OpenAPI document included. */
export const allRoutes: [name: string, route: AnyRoute][] = Object.entries<AnyRoute>({ ...routes, ...openApiRoutes })
