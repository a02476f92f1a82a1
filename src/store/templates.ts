// Contract: templates of tenants. The store does not check whether their source is valid Liquid.

export interface TemplateContent {
  name: string;
  /** Liquid; at least one of `html` and `text` is set. */
  html: string | null;
  text: string | null;
  /** Liquid, of messages that are sent with the template; left out: the call brings its own. */
  subject?: string;
}

export interface Template extends TemplateContent {
  id: string;
  createdAt: number;
  updatedAt: number;
  /** Email address of the person who changed it last in the portal; null: an API call. */
  changedBy: string | null;
}

/** What a list shows of a template. */
export interface TemplateName extends Pick<Template, 'id' | 'name' | 'updatedAt' | 'changedBy'> {
  hasHtml: boolean;
  hasText: boolean;
}

/** Limits for all templates of a tenant together. */
export interface TemplateQuota {
  templates: number;
  /** Of html, text and subject, in UTF-8. */
  bytes: number;
}

export type TemplateExcess = 'too_many' | 'too_large';

export interface TemplateStore {
  /** Refused when the tenant would exceed the quota. */
  createTemplate(tenantId: string, template: Template, quota: TemplateQuota): Promise<'created' | TemplateExcess>;
  /** Oldest first. */
  listTemplates(tenantId: string): Promise<Template[]>;
  /** Newest first, starting after `before`. */
  listTemplateNames(tenantId: string, page: { before: string | null; limit: number }): Promise<TemplateName[]>;
  getTemplate(tenantId: string, id: string): Promise<Template | null>;
  /** Replaces name, html, text and subject. Null when the tenant has no such template. */
  replaceTemplate(tenantId: string, id: string, change: TemplateReplacement): Promise<Template | 'too_large' | null>;
  /** False when the tenant has no such template. */
  deleteTemplate(tenantId: string, id: string): Promise<boolean>;
}

export interface TemplateReplacement {
  content: TemplateContent;
  updatedAt: number;
  changedBy: string | null;
  quota: TemplateQuota;
}
