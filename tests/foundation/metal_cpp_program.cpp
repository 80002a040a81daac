#define NS_PRIVATE_IMPLEMENTATION
#define CA_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#include "metal_cpp_program.hpp"

#include <Foundation/Foundation.hpp>

namespace {

NS::String* const application_name = MTLSTR("Particles");
[[maybe_unused]] const NS::ErrorDomain domain_at_start = NS::CocoaErrorDomain;

class Renderer {
 public:
  Renderer() : label_(NS::TransferPtr(NS::String::alloc()->init("queue", NS::UTF8StringEncoding))) {}

  NS::String* label() const { return label_.get(); }

  bool open(const char* path, NS::Error** ppError) {
    using NS::StringEncoding::UTF8StringEncoding;
    NS::String* pPath = NS::String::string(path, UTF8StringEncoding);
    NS::URL* pURL = NS::URL::fileURLWithPath(pPath);
    if (FILE* pFile = fopen(pURL->fileSystemRepresentation(), "rb")) {
      fclose(pFile);
      return true;
    }
    NS::Dictionary* pInfo = NS::Dictionary::dictionary(MTLSTR("No such file."), NS::LocalizedDescriptionKey);
    *ppError = NS::Error::error(NS::CocoaErrorDomain, 260, pInfo);
    return false;
  }

 private:
  NS::SharedPtr<NS::String> label_;
};

}  // namespace

std::string run_metal_cpp_program() {
  NS::AutoreleasePool* pPool = NS::AutoreleasePool::alloc()->init();
  std::string out;

  NS::String* pString = NS::String::string("Hello World", NS::ASCIIStringEncoding);
  out += pString->cString(NS::ASCIIStringEncoding);

  Renderer renderer;
  NS::Error* pError = nullptr;
  if (!renderer.open("/nowhere/particles.metal", &pError)) {
    out += std::string(" ") + pError->localizedDescription()->utf8String();
  }
  assert(pError->domain() == domain_at_start);

  const NS::Object* objects[] = {renderer.label(), NS::Number::number(3u), application_name};
  NS::SharedPtr<NS::Array> pArray = NS::TransferPtr(NS::Array::alloc()->init(objects, 3));
  for (NS::UInteger i = 0; i < pArray->count(); ++i) {
    out += std::string(" ") + pArray->object(i)->description()->utf8String();
  }
  out += std::string(" ") + pArray->object<NS::String>(2)->utf8String();

  const NS::Range range = NS::Range::Make(0, 3);
  out += " " + std::to_string(range.Max());
  out += " " + std::to_string(NS::ProcessInfo::processInfo()->activeProcessorCount() > 0);

  pPool->release();
  return out;
}
