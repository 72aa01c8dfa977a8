import type { ApiService, Exchange } from './exchange.ts'

/**
 * Names the span of a request, and adds its attributes (OpenTelemetry, "Semantic conventions for HTTP spans"). The path is
 * the template in the document, so no identifier of a request becomes part of a name.
 */
export function describeSpan(exchange: Exchange, { environment }: ApiService): void {
  const { span, request, response, route, credential, requestId, answerVersion, refusal } = exchange
  if (!span?.isSampled) return
  const { statusCode } = response
  if (route) span.rename(`${request.method} ${route.operation.path}`)
  span.set({
    'http.request.method': request.method,
    'http.route': route?.operation.path,
    'http.response.status_code': response.headersSent ? statusCode : undefined,
    'error.type': statusCode >= 500 ? refusal : undefined,
    'svc.environment': environment,
    'svc.operation': route?.operation.id,
    'svc.version': answerVersion.name,
    'svc.error_code': refusal,
    'svc.request_id': requestId,
    'svc.tenant_id': credential?.tenant.id,
  })
}
